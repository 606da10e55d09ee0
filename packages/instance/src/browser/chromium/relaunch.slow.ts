import { eventuallyPasses } from "@shoal/testkit";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { findChromium } from "../../testing/chromium.ts";
import { commandLineOf, killAll } from "../../testing/processes.ts";
import { cdpClient, runInstance } from "../../testing/run-instance.ts";

const shell = findChromium("headless_shell");
const full = findChromium("chrome");
const isMissing = shell === undefined || full === undefined;
const reason = isMissing ? " (skipped, needs a headless shell and a full Chromium)" : "";

const isRoot = process.getuid?.() === 0;
const both = {
  kind: "headless_shell",
  executable: shell ?? "missing shell",
  full: { executable: full ?? "missing chromium", inner_sandbox: !isRoot },
} as const;

/** @param url - of the page; the first one by default. The order of pages changes. */
async function evaluate(client: ReturnType<typeof cdpClient>, expression: string, url?: string): Promise<unknown> {
  const { result } = (await client.send("Target.getTargets")) as {
    result: { targetInfos: { type: string; targetId: string; url: string }[] };
  };
  const page = result.targetInfos.find((target) => target.type === "page" && (url ?? target.url) === target.url);
  const attached = (await client.send("Target.attachToTarget", { targetId: page?.targetId, flatten: true })) as {
    result: { sessionId: string };
  };
  const answer = (await client.send(
    "Runtime.evaluate",
    { expression, returnByValue: true },
    attached.result.sessionId,
  )) as {
    result: { result: { value: unknown } };
  };
  return answer.result.result.value;
}

describe.skipIf(isMissing && process.env.SHOAL_REQUIRE_ALL !== "1")(`a relaunched browser${reason}`, () => {
  it("starts a full Chromium with the size and state of the previous browser, and reports no crash", async () => {
    const site = createServer((_request, response) =>
      response.setHeader("content-type", "text/html").end("<title>Shoal</title>"),
    );
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}/`;
    await using instance = await runInstance({ chromium: both });
    await instance.ready();
    const before = cdpClient(await instance.connect());
    expect(await instance.assign({ viewport: { width: 1000, height: 600 }, start_url: url })).toBe(200);
    await eventuallyPasses(async () => {
      expect(await evaluate(before, "document.title")).toBe("Shoal");
    });
    await evaluate(before, "document.cookie = 'visited=yes; max-age=600'; localStorage.setItem('kept', 'also')");

    expect(await instance.assign({ launch: { full: true } })).toBe(200);
    expect(await before.closed).toEqual({
      code: 1012,
      reason: "the browser is being started in another way: reconnect",
    });

    const after = cdpClient(await instance.connect());
    expect(await evaluate(after, "[innerWidth, innerHeight, navigator.pdfViewerEnabled]")).toEqual([1000, 600, true]);
    await after.send("Target.createTarget", { url: "about:blank" });
    await instance.assign({ launch: { full: true }, start_url: `${url}again` });
    await eventuallyPasses(async () => {
      const state = "document.title && [document.cookie, localStorage.getItem('kept')]";
      expect(await evaluate(after, state, `${url}again`)).toEqual(["visited=yes", "also"]);
    });
    expect(instance.events.some(({ type }) => type === "browser_restarted" || type === "ending")).toBe(false);
    expect(instance.events.filter(({ type }) => type === "ready").length).toBeLessThanOrEqual(2);
    site.closeAllConnections();
    site.close();
  });

  it("restarts a browser that is killed during its start, and reports it to waiting callers", async () => {
    await using instance = await runInstance({ chromium: both });
    await instance.ready();
    const before = cdpClient(await instance.connect());
    const assigned = instance.assign({ launch: { stealth: true } });
    await before.closed;
    // Kills the closing or the starting browser; how the instance ends shows which one.
    let kills = 0;
    const killing = setInterval(() => {
      if (kills > 0) return;
      const [started] = instance.browserPids().filter((pid) => commandLineOf(pid).includes(both.full.executable));
      if (started === undefined) return;
      kills++;
      killAll([started]);
    }, 5);
    expect(await assigned).toBe(200);
    clearInterval(killing);
    const after = cdpClient(await instance.connect());
    expect(await evaluate(after, "navigator.webdriver + ' ' + /Headless/.test(navigator.userAgent)")).toBe(
      "false false",
    );
    expect(instance.events.some(({ type }) => type === "ending")).toBe(false);
  });

  it("lets an instance end during a relaunch", async () => {
    await using instance = await runInstance({ chromium: both });
    const client = cdpClient(await instance.connect());
    const assigned = instance.assign({ launch: { full: true } }).catch(() => undefined);
    await client.closed;
    instance.process.stdin?.end();
    expect(await instance.exited).toBe(0);
    await assigned;
    await eventuallyPasses(() => {
      expect(instance.browserPids()).toEqual([]);
    });
  });

  it("rejects a relaunch when only a headless shell is installed, and keeps the running browser", async () => {
    await using instance = await runInstance({ chromium: { kind: "headless_shell", executable: both.executable } });
    const client = cdpClient(await instance.connect());
    const answer = await instance.call(
      "POST",
      "/_instance/assign",
      JSON.stringify({ session_id: "s", timeout_seconds: 60, launch: { full: true } }),
    );
    expect(answer.status).toBe(422);
    expect(answer.text).toContain("no_full_chromium");
    expect(await client.send("Browser.getVersion")).toHaveProperty("result");
  });
});
