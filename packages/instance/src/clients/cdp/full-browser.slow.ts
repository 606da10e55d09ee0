import { eventuallyPasses } from "@shoal/testkit";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import { chromium } from "playwright-core";
import puppeteer from "puppeteer-core";
import { describe, expect, it } from "vitest";
import { findChromium } from "../../testing/chromium.ts";
import { cdpClient, runInstance, type RunningInstance } from "../../testing/run-instance.ts";

const shell = findChromium("headless_shell");
const full = findChromium("chrome");
const isMissing = shell === undefined || full === undefined;
const reason = isMissing ? " (skipped, needs a headless shell and a full Chromium)" : "";
const both = {
  kind: "headless_shell",
  executable: shell ?? "missing shell",
  full: { executable: full ?? "missing chromium", inner_sandbox: process.getuid?.() !== 0 },
} as const;

/** Makes an extension that sets the title of pages. Returns its API path. */
async function makeExtension({ config }: RunningInstance): Promise<string> {
  const path = "/home/shoal/extension";
  const folder = join(config.root, path);
  await mkdir(folder, { recursive: true });
  const scripts = [{ matches: ["<all_urls>"], js: ["script.js"] }];
  await writeFile(
    join(folder, "manifest.json"),
    JSON.stringify({ manifest_version: 3, name: "titles", version: "1", content_scripts: scripts }),
  );
  await writeFile(join(folder, "script.js"), "document.title = 'by the extension'");
  return path;
}

async function serve(): Promise<{ readonly url: string } & AsyncDisposable> {
  const server = createServer((_request, response) =>
    response.setHeader("content-type", "text/html").end("<h1>Hi</h1>"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Makes the instance reachable for clients that know only ports. */
async function bridgeTo({ config }: RunningInstance): Promise<{ readonly url: string } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((client) => {
    const instance = connect(config.listen_path);
    for (const [from, to] of [
      [client, instance],
      [instance, client],
    ] as const) {
      sockets.add(from);
      from.on("error", () => undefined).on("close", () => to.destroy());
      from.pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `ws://127.0.0.1:${String((server.address() as AddressInfo).port)}/cdp`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe.skipIf(isMissing && process.env.SHOAL_REQUIRE_ALL !== "1")(
  `a client that needs a full Chromium${reason}`,
  () => {
    it("gets one under the same connection, with Playwright's page and its settings", async () => {
      await using site = await serve();
      await using instance = await runInstance({ chromium: both });
      await instance.assign({ viewport: { width: 1000, height: 600 } });
      const path = await makeExtension(instance);
      await using bridge = await bridgeTo(instance);
      const browser = await chromium.connectOverCDP(bridge.url);
      const [page] = browser.contexts()[0]?.pages() ?? [];
      await page?.addInitScript("globalThis.prepared = 'yes'");
      const console: string[] = [];
      page?.on("console", (message) => console.push(message.text()));
      const cdp = await browser.newBrowserCDPSession();
      const { id } = await cdp.send("Extensions.loadUnpacked", { path });
      expect(id).toMatch(/^[a-p]{32}$/);
      await page?.goto(site.url);
      await page?.waitForFunction("document.title === 'by the extension'");
      expect(await page?.evaluate("[prepared, innerWidth, innerHeight]")).toEqual(["yes", 1000, 600]);
      await page?.evaluate((length) => {
        globalThis.console.log(String(length.length));
      }, "x".repeat(400_000));
      await eventuallyPasses(() => {
        expect(console).toContain("400000");
      });
      const other = await browser.contexts()[0]?.newPage();
      await other?.goto(site.url);
      await other?.waitForFunction("document.title === 'by the extension'");
      await other?.close();
      expect(browser.contexts()[0]?.pages()).toEqual([page]);
      expect(instance.events.some(({ type }) => type === "browser_restarted")).toBe(false);
      await browser.close();
    });

    it("gets one with Puppeteer's installExtension, and every other client keeps its connection", async () => {
      await using site = await serve();
      await using instance = await runInstance({ chromium: both });
      await instance.assign({});
      const path = await makeExtension(instance);
      await using bridge = await bridgeTo(instance);
      const watching = cdpClient(await instance.connect());
      await watching.send("Target.setDiscoverTargets", { discover: true });
      const browser = await puppeteer.connect({ browserWSEndpoint: bridge.url, defaultViewport: null });
      const [page] = await browser.pages();
      expect(await browser.installExtension(path)).toMatch(/^[a-p]{32}$/);
      await page?.goto(site.url);
      await page?.waitForFunction("document.title === 'by the extension'");
      expect(await browser.pages()).toEqual([page]);
      expect(await watching.send("Browser.getVersion")).toHaveProperty(
        "result.product",
        expect.not.stringMatching(/Headless/),
      );
      const { result } = (await watching.send("Target.getTargets")) as { result: { targetInfos: { url: string }[] } };
      expect(result.targetInfos.map(({ url }) => url)).toContain(site.url);
      await browser.disconnect();
    });

    it("answers with the option to set when the session has a page already", async () => {
      await using site = await serve();
      await using instance = await runInstance({ chromium: both });
      await instance.assign({ start_url: site.url });
      const client = cdpClient(await instance.connect());
      await eventuallyPasses(async () => {
        const { result } = (await client.send("Target.getTargets")) as { result: { targetInfos: { url: string }[] } };
        expect(result.targetInfos.map(({ url }) => url)).toContain(site.url);
      });
      expect(await client.send("Extensions.getExtensions")).toMatchObject({
        error: {
          code: -32601,
          message: expect.stringMatching(
            /^Extensions\.getExtensions needs a full Chromium.*open pages.*`headless: false`/,
          ) as string,
        },
      });
      expect(await client.send("Browser.getVersion")).toHaveProperty("result");
    });

    it("keeps a blank-looking page with content of a client", async () => {
      await using instance = await runInstance({ chromium: both });
      await instance.assign({});
      const client = cdpClient(await instance.connect());
      const { result } = (await client.send("Target.getTargets")) as {
        result: { targetInfos: { targetId: string; type: string }[] };
      };
      const targetId = result.targetInfos.find(({ type }) => type === "page")?.targetId;
      const attached = (await client.send("Target.attachToTarget", { targetId, flatten: true })) as {
        result: { sessionId: string };
      };
      const { sessionId } = attached.result;
      await client.send("Runtime.evaluate", { expression: "document.body.textContent = 'mine'" }, sessionId);
      expect(await client.send("Extensions.getExtensions")).toHaveProperty(
        "error.message",
        expect.stringContaining("has content or history"),
      );
      const kept = await client.send("Runtime.evaluate", { expression: "document.body.textContent" }, sessionId);
      expect(kept).toHaveProperty("result.result.value", "mine");
    });

    it("names the missing program on a host with a headless shell only", async () => {
      await using instance = await runInstance({ chromium: { kind: "headless_shell", executable: both.executable } });
      await instance.assign({});
      const client = cdpClient(await instance.connect());
      expect(await client.send("Extensions.getExtensions")).toHaveProperty(
        "error.message",
        expect.stringContaining("only a headless shell; install Chromium"),
      );
    });
  },
);
