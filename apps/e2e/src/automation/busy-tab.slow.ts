import type { Browser as Session } from "@shoal/client";
import { waitLimitMs } from "@shoal/testkit";
import { connect as connectPuppeteer } from "puppeteer-core";
import { chromium } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { RawCdp } from "../testing/raw-cdp.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";
import { WebSocket } from "ws";

/** The server notices that the script begins: the request blocks the page, and for `/held` until the test ends it. */
const script = (path: string, after: string) => `<!doctype html><title>busy</title><h1>Busy</h1><script>
const block = () => { const request = new XMLHttpRequest(); request.open("GET", "${path}", false); request.send(); ${after} };
</script>`;
const pages: Readonly<Record<string, string>> = {
  "/": "<!doctype html><title>free</title><h1>Free</h1>",
  "/endless": script("/begun", "for (;;);"),
  "/long": script("/held", "document.title = 'free again';"),
  "/alert": script("/begun", "alert('stop');"),
  "/frame": `<!doctype html><title>busy</title><h1>Busy</h1><iframe id=f></iframe><script>
f.src = location.origin.replace("127.0.0.1", "localhost") + "/inner";
const block = () => f.contentWindow.postMessage("block", "*");
</script>`,
  "/inner": `${script("/begun", "for (;;);")}<script>onmessage = block;</script>`,
};

describe.each(placements)("a tab whose main thread is busy, in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("next to a free tab", () => {
    let site: Site;
    let began = Promise.withResolvers<undefined>();
    let free = (): void => undefined;
    beforeAll(async () => {
      site = await serveSite((request, response) => {
        if (request.url === "/begun") {
          response.end();
          began.resolve(undefined);
        } else if (request.url === "/held") {
          free = () => response.end();
          began.resolve(undefined);
        } else response.setHeader("content-type", "text/html").end(pages[request.url ?? "/"] ?? "");
      });
    });
    afterAll(() => site.close());
    const test = useService(() => [
      "--placement",
      placement,
      ...["--allow-private-hosts", "127.0.0.1"],
      ...["--allow-private-hosts", "localhost"],
    ]);
    let session: Session;
    beforeEach(async () => {
      began = Promise.withResolvers();
      session = await test.shoal.browsers.create({ start_url: site.url });
    });
    afterEach(async () => {
      free();
      await test.shoal.browsers.delete(session.session_id);
    });
    const id = () => session.session_id;
    const connect = () => chromium.connectOverCDP(session.cdp_ws_url, { timeout: waitLimitMs });
    const address = (path: string) => `${site.url}${path}`;

    async function openBusy(path: string): Promise<void> {
      await test.shoal.browsers.act(id(), { type: "open_tab", url: address(path) });
      using raw = new RawCdp(await opened(session.cdp_ws_url));
      const { targetInfos } = await raw.result("Target.getTargets");
      const targetId = (targetInfos as { url: string; targetId: string }[]).find(
        ({ url }) => url === address(path),
      )?.targetId;
      const { sessionId } = await raw.result("Target.attachToTarget", { targetId, flatten: true });
      await raw.evaluate("void setTimeout(block, 100)", String(sessionId));
      await began.promise;
    }

    it.each(["endless", "alert"])("leaves the other tabs to clients of Playwright (/%s)", async (path) => {
      await openBusy(path);
      await using client = await connect();
      const [context] = client.contexts();
      await expect.poll(() => context?.pages().map((page) => page.url())).toEqual([site.url]);
      expect(await context?.pages()[0]?.textContent("h1")).toBe("Free");
      const browser = await client.newBrowserCDPSession();
      const { targetInfos } = await browser.send("Target.getTargets");
      const busy = targetInfos.find(({ url }) => url === address(path));
      await browser.send("Target.closeTarget", { targetId: busy?.targetId ?? "" });
      await expect
        .poll(async () => (await browser.send("Target.getTargets")).targetInfos.map(({ url }) => url))
        .not.toContain(address(path));
    });

    it("leaves the other tabs to clients of Playwright if a frame of another site is busy", async () => {
      await openBusy("frame");
      await using client = await connect();
      const [context] = client.contexts();
      const free = () => context?.pages().find((page) => page.url() === site.url);
      await expect.poll(free).toBeDefined();
      expect(await free()?.textContent("h1")).toBe("Free");
    });

    it("appears in Playwright when its script ends", async () => {
      await openBusy("long");
      await using client = await connect();
      const [context] = client.contexts();
      await expect.poll(() => context?.pages()).toHaveLength(1);
      const appeared = context?.waitForEvent("page");
      free();
      const page = await appeared;
      expect(page?.url()).toBe(address("long"));
      await page?.waitForFunction("document.title === 'free again'");
      expect(await page?.textContent("h1")).toBe("Busy");
      expect(context?.pages()).toHaveLength(2);
      await page?.close();
    });

    it("is named by the error of a client that prepares it", async () => {
      await openBusy("endless");
      const client = await connectPuppeteer({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
      const busy = client.targets().find((target) => target.url() === address("endless"));
      await expect(busy?.page()).rejects.toThrow(address("endless"));
      const other = client.targets().find((target) => target.url() === site.url);
      expect(await (await other?.page())?.title()).toBe("free");
      await client.disconnect();
      using raw = new RawCdp(await opened(session.cdp_ws_url));
      const { targetInfos } = await raw.result("Target.getTargets");
      const targetId = (targetInfos as { url: string; targetId: string }[]).find(
        ({ url }) => url === address("endless"),
      )?.targetId;
      const { sessionId } = await raw.result("Target.attachToTarget", { targetId, flatten: true });
      const answer = await raw.send("Page.enable", {}, String(sessionId));
      expect(answer?.error?.message).toContain(`${address("endless")} (target ${String(targetId)})`);
      expect((await raw.send("Runtime.enable", {}, String(sessionId)))?.error?.message).toContain("busy");
    });

    it("is named by the errors of operations, which close it", async () => {
      await openBusy("endless");
      const { playwright, act } = bound();
      const hidden = await playwright("return await page.title()");
      expect(hidden.success).toBe(false);
      expect(hidden.error).toContain(address("endless"));
      await expect(act({ type: "click", role: "button", name: "Go", tab: "t2", timeout_ms: 3000 })).rejects.toThrow(
        "t2",
      );
      await expect(test.shoal.browsers.observe(id(), { tab: "t2" })).rejects.toThrow("t2");
      await act({ type: "close_tab", tab: "t2" });
      expect(await playwright("return await page.title()")).toMatchObject({ success: true, result: "free" });
      expect((await test.shoal.browsers.observe(id())).tabs).toHaveLength(1);
    });

    const bound = () => ({
      playwright: (code: string) => test.shoal.browsers.playwright.execute(id(), { code, timeout_sec: 120 }),
      act: (act: Parameters<typeof test.shoal.browsers.act>[1]) => test.shoal.browsers.act(id(), act),
    });
  });
});

function opened(address: string): Promise<WebSocket> {
  const socket = new WebSocket(address);
  return new Promise((resolve, reject) => {
    socket.once("error", reject).once("open", () => {
      resolve(socket);
    });
  });
}
