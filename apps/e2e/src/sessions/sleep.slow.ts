import { examineHost } from "@shoal/placement";
import type { Shoal } from "@shoal/client";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useService } from "../testing/service.ts";

const finding = (await examineHost()).findings.find(({ name }) => name === "sleep");
const isRequired = process.env.SHOAL_REQUIRE_ALL === "1" && process.getuid?.() === 0;
const isSkipped = finding?.detail.startsWith("Idle sessions can sleep") !== true && !isRequired;

const cycles = 8;
const site = createServer((request, response) => {
  response
    .setHeader("content-type", "text/html")
    .end(
      `<title>${request.url ?? ""}</title><button onclick="this.textContent = Number(this.textContent) + 1">0</button>`,
    );
});

async function sleeps(shoal: Shoal, id: string): Promise<void> {
  await expect.poll(async () => (await shoal.browsers.get(id)).asleep_since).toBeDefined();
}

describe.skipIf(isSkipped)(`Playwright${isSkipped ? ` (skipped: ${finding?.detail ?? ""})` : ""}`, () => {
  const test = useService(() => [
    "--placement",
    "sandbox",
    "--allow-private-hosts",
    "127.0.0.1",
    "--sleep-after-seconds",
    "1",
  ]);
  beforeAll(() => new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve)));
  afterAll(() => site.close());

  it("works through eight sleeps of its session, by the default of the service, without noticing them", async () => {
    const { shoal } = test;
    await using session = await shoal.browsers.create({ timeout_seconds: 600 });
    expect(session.sleep_after_seconds).toBe(1);
    const { session_id: id } = session;
    const browser = await chromium.connectOverCDP(session.cdp_ws_url);
    const page = await browser.contexts()[0]?.newPage();
    if (page === undefined) throw new Error("Expected a page.");
    const url = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}`;
    await page.goto(`${url}/0`);
    for (let cycle = 1; cycle <= cycles; cycle++) {
      await sleeps(shoal, id);
      if (cycle % 4 === 0) await page.goto(`${url}/${String(cycle)}`);
      else if (cycle % 4 === 1) await page.click("button");
      else if (cycle % 4 === 2) expect(await page.textContent("button")).toBe("1");
      else expect((await page.screenshot()).subarray(1, 4).toString()).toBe("PNG");
    }
    expect(await page.title()).toBe(`/${String(cycles)}`);
    // Waits longer than the sleep would need: its command keeps the session awake.
    await page.evaluate(() => {
      setTimeout(() => {
        document.body.append(document.createElement("hr"));
      }, 3000);
    });
    await page.waitForSelector("hr", { state: "attached" });
    expect(await shoal.browsers.get(id)).toMatchObject({ browser_restarts: 0 });
    await browser.close();
    // Without a client, it sleeps until a call of the API.
    await sleeps(shoal, id);
    expect(await shoal.browsers.playwright.execute(id, { code: "return page.url()" })).toMatchObject({ success: true });
  });

  it("records a sleep in telemetry before it begins, and its end at the next use, which a monitor is not", async () => {
    const { shoal } = test;
    await using session = await shoal.browsers.create({ timeout_seconds: 600, telemetry: { enabled: true } });
    const { session_id: id } = session;
    const recorded = async () => {
      const page = await shoal.browsers.telemetry.events(id, { category: ["system"] });
      return page.items.map(({ event }) => event);
    };
    await sleeps(shoal, id);
    const sleep = { type: "session_sleep", data: { idle_ms: expect.any(Number) as number } };
    await expect.poll(recorded).toMatchObject([sleep]);
    // It was not woken for this.
    expect((await shoal.browsers.get(id)).asleep_since).toBeDefined();
    await shoal.browsers.stats(id);
    await sleeps(shoal, id);
    expect(await recorded()).toHaveLength(1);

    await shoal.browsers.playwright.execute(id, { code: "return 1" });
    const wake = {
      type: "session_wake",
      data: { asleep_ms: expect.any(Number) as number, wake_ms: expect.any(Number) as number },
    };
    await expect.poll(async () => (await recorded()).slice(0, 2)).toMatchObject([sleep, wake]);
  });

  it("follows the configuration of a pool while a browser is leased, instead of the default of the service", async () => {
    const { shoal } = test;
    const pool = await shoal.browserPools.create({ size: 1, fill_rate_per_minute: 60_000, sleep_after_seconds: 0 });
    const lease = async () => {
      const leased = await shoal.browserPools.acquire(pool.id, { acquire_timeout_seconds: 60 });
      if (leased === undefined) throw new Error("Expected a browser.");
      return leased;
    };
    expect(pool.browser_pool_config.sleep_after_seconds).toBe(0);
    const awake = await lease();
    expect(awake.sleep_after_seconds).toBeUndefined();
    await shoal.browserPools.release(pool.id, { session_id: awake.session_id, reuse: false });
    const changed = await shoal.browserPools.update(pool.id, { sleep_after_seconds: 2, discard_all_idle: true });
    expect(changed.browser_pool_config.sleep_after_seconds).toBe(2);
    const leased = await lease();
    expect(leased.sleep_after_seconds).toBe(2);
    await sleeps(shoal, leased.session_id);
    await shoal.browserPools.delete(pool.id, { force: true });
  });
});
