import Kernel from "@onkernel/sdk";
import { type CreateBrowser, type TelemetryEnvelope } from "@shoal/client";
import { eventually, eventuallyPasses } from "@shoal/testkit";
import { createHash } from "node:crypto";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closedPort } from "../testing/closed-port.ts";
import { placements } from "../testing/components.ts";
import { firstPageOf } from "../testing/page.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

const report = Buffer.alloc(200_000, "shoal ");
let site: Site;
let closed: Awaited<ReturnType<typeof closedPort>>;
beforeAll(async () => {
  closed = await closedPort();
  site = await serveSite((request, response) => {
    if (request.url === "/report.csv")
      response
        .writeHead(200, { "content-disposition": "attachment; filename=report.csv", "content-type": "text/csv" })
        .end(report);
    else if (request.url === "/data")
      response.writeHead(200, { "content-type": "application/json" }).end('{"answer":42}');
    else
      response
        .writeHead(200, { "content-type": "text/html" })
        .end(
          `<title>page</title><a href="/report.csv">report</a><script>console.log("hello", ${JSON.stringify(request.url)}); fetch("/data")</script>`,
        );
  });
});
afterAll(async () => {
  closed.close();
  await site.close();
});

describe.each(placements)("telemetry in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("of sessions", () => {
    const test = useService(() => ["--placement", placement, "--allow-private-hosts", `${site.host},${closed.host}`]);

    /** A session and its stream, from beginning to end. */
    async function follow(telemetry: CreateBrowser["telemetry"], startUrl?: string) {
      const { shoal } = test;
      const browser = await shoal.browsers.create({
        timeout_seconds: 600,
        telemetry,
        ...(startUrl !== undefined && { start_url: startUrl }),
      });
      const seen: TelemetryEnvelope[] = [];
      const ended = (async () => {
        for await (const envelope of shoal.browsers.telemetry.stream(browser.session_id, { replay: "all" }))
          seen.push(envelope);
      })();
      const types = () => seen.map(({ event }) => event.type);
      return { shoal, id: browser.session_id, browser, seen, types, ended };
    }

    it("streams a page's events, and lists them after the session's end", async () => {
      const { shoal, id, browser, seen, types, ended } = await follow({
        browser: { console: {}, network: {}, page: {} },
      });
      expect(browser.telemetry?.browser).toMatchObject({ console: { enabled: true }, screenshot: { enabled: false } });
      const client = await chromium.connectOverCDP(browser.cdp_ws_url);
      const page = await firstPageOf(client);
      await page.goto(`${site.url}first`);
      await shoal.browsers.observe(id);
      await eventually(
        "every kind was reported",
        () =>
          (["console_log", "network_response", "page_load", "cdp_connect", "api_call"] as const).every((type) =>
            types().includes(type),
          ) && seen.some(({ event }) => event.type === "network_response" && event.data?.body === '{"answer":42}'),
      );
      expect(seen.find(({ event }) => event.type === "console_log")?.event.data).toMatchObject({
        text: "hello",
        args: ["hello", "/first"],
      });
      await client.close();
      await eventually("the client left", () => types().includes("cdp_disconnect"));
      await shoal.browsers.delete(id);
      await ended;
      const kept: TelemetryEnvelope[] = [];
      for await (const envelope of await shoal.browsers.telemetry.events(id, { since: "1h", limit: 7 }))
        kept.push(envelope);
      expect(kept.map(({ seq }) => seq)).toEqual(kept.map((_, index) => index + 1));
      // The instance's end cut the stream; the stored events are complete.
      expect(kept.slice(0, seen.length)).toEqual(seen);
      const [newest] = (await shoal.browsers.telemetry.events(id, { order: "desc", limit: 1, category: ["network"] }))
        .items;
      expect(newest).toEqual(kept.findLast(({ event }) => event.category === "network"));
    });

    it("reports a download once it can be read", async () => {
      const { shoal, id, seen, ended } = await follow({ browser: { page: {} } }, `${site.url}report.csv`);
      const told = await eventuallyPasses(() => {
        const found: Readonly<Record<string, unknown>> | undefined = seen.find(
          ({ event }) => event.type === "download_finished",
        )?.event.data;
        if (found === undefined) throw new Error("No download was reported.");
        return found;
      });
      expect(told).toMatchObject({
        state: "completed",
        url: `${site.url}report.csv`,
        size_bytes: report.length,
        sha256: createHash("sha256").update(report).digest("hex"),
      });
      expect(Buffer.from(await shoal.browsers.fs.readBytes(id, { path: String(told.path) })).equals(report)).toBe(true);
      await shoal.browsers.delete(id);
      await ended;
    });

    it("reports why a request was blocked, over http and https", async () => {
      const { shoal, id, seen, ended } = await follow({ browser: { network: {} } });
      const targets = [closed.host, "10.11.12.13"].flatMap((host) =>
        ["http", "https"].map((scheme) => `${scheme}://${host}/`),
      );
      await shoal.browsers.playwright.execute(id, {
        code: `for (const url of ${JSON.stringify(targets)}) await page.goto(url).catch(() => undefined);`,
      });
      const told = () =>
        seen.flatMap(({ event }) =>
          event.type === "proxy_error"
            ? [`${String(event.data?.url)} ${String(event.data?.code)} ${String(event.data?.status)}`]
            : [],
        );
      await eventuallyPasses(() => {
        // Chromium repeats a failed connection now and then.
        expect([...new Set(told())]).toEqual(
          targets.map(
            (url) => `${url} ${url.includes("//10.") ? "destination_blocked" : "upstream_connect_failed"} 502`,
          ),
        );
      });
      await shoal.browsers.delete(id);
      await ended;
    });

    it("is switched while a session runs", async () => {
      const { shoal, id, seen, ended } = await follow(null);
      const visit = (path: string) =>
        shoal.browsers.playwright.execute(id, { code: `await page.goto(${JSON.stringify(site.url + path)})` });
      await visit("quiet");
      expect(
        (await shoal.browsers.update(id, { telemetry: { browser: { console: {} } } })).telemetry?.browser,
      ).toMatchObject({
        console: { enabled: true },
      });
      await visit("loud");
      await eventually("the page spoke", () => seen.some(({ event }) => event.type === "console_log"));
      expect((await shoal.browsers.update(id, { telemetry: { enabled: false } })).telemetry).toBeUndefined();
      await visit("quiet-again");
      await shoal.browsers.delete(id);
      await ended;
      expect(seen.flatMap(({ event }) => (event.type === "console_log" ? [event.data?.args] : []))).toEqual([
        ["hello", "/loud"],
      ]);
    });

    it("resumes after a reader's last event", async () => {
      const { shoal, id, seen, ended } = await follow({ enabled: true, browser: { platform: {} } });
      for (let index = 0; index < 5; index++) await shoal.browsers.fs.listFiles(id, { path: "/home/shoal" });
      await eventually("five events", () => seen.length >= 5);
      const rest: number[] = [];
      for await (const { seq } of shoal.browsers.telemetry.stream(id, {}, { lastEventId: "3" })) {
        rest.push(seq);
        if (seq === 5) break;
      }
      expect(rest).toEqual([4, 5]);
      await shoal.browsers.delete(id);
      await ended;
    });

    it("fits the hosted service's SDK", async () => {
      const kernel = new Kernel({ apiKey: test.service.apiKey, baseURL: test.service.baseUrl });
      const { session_id, telemetry } = await kernel.browsers.create({
        timeout_seconds: 600,
        telemetry: { enabled: true, browser: { console: { enabled: true } } },
      });
      expect(telemetry?.browser?.console).toEqual({ enabled: true });
      await kernel.browsers.playwright.execute(session_id, { code: "return 1" });
      const stream = await kernel.browsers.telemetry.stream(session_id, { replay: "all" });
      for await (const { event, seq } of stream) {
        expect([seq, event.type]).toEqual([1, "api_call"]);
        break;
      }
      stream.controller.abort();
      const firstListed = async () => {
        for await (const { event } of kernel.browsers.telemetry.events(session_id, {
          category: ["control", "console"],
          limit: 1,
        }))
          return event.type;
      };
      // The service stores an event shortly after the session has streamed it.
      await expect.poll(firstListed).toBe("api_call");
      await kernel.browsers.deleteByID(session_id);
    });
  });
});
