import { once } from "node:events";
import type { BrowserStats } from "@shoal/schemas";
import { eventuallyPasses } from "@shoal/testkit";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { chromium as playwright } from "playwright-core";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeChromium } from "../testing/chromium.ts";
import { killBrowser, processesWith } from "../testing/processes.ts";
import { cdpClient, runInstance } from "../testing/run-instance.ts";

let site: Server;
let siteUrl: string;
beforeAll(async () => {
  site = createServer((request, response) => {
    if (request.url === "/file.txt")
      response.writeHead(200, { "content-disposition": "attachment; filename=file.txt" }).end("downloaded");
    else response.writeHead(200, { "content-type": "text/html" }).end("<title>Shoal</title><a href=/file.txt>file</a>");
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  siteUrl = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}/`;
});
afterAll(() => {
  site.closeAllConnections();
  site.close();
});

const until = (check: () => boolean) =>
  eventuallyPasses(() => {
    expect(check()).toBe(true);
  });

describeChromium("an instance", (chromium) => {
  it("reports its page without secrets, and its load without counting as used", async () => {
    await using instance = await runInstance({ chromium });
    // A session with a client does not reach its idle timeout.
    const socket = await instance.connect();
    expect(await instance.assign({ session_id: "s1", timeout_seconds: 2 })).toBe(200);
    await cdpClient(socket).send("Target.createTarget", { url: `${siteUrl}?token=secret#part` });
    await instance.event((event) => event.type === "page" && event.page_url === siteUrl);
    const stats = async () => JSON.parse((await instance.call("GET", "/stats")).text) as BrowserStats;
    expect(await stats()).toMatchObject({ pages: 2, clients: 1, viewers: 0 });
    if (process.platform === "linux") {
      expect((await stats()).processes).toBeGreaterThan(1);
      expect((await stats()).mem_bytes).toBeGreaterThan(10_000_000);
    }
    socket.close();
    let isOver = false;
    void instance.exited.then(() => (isOver = true));
    await eventuallyPasses(async () => {
      await stats().catch(() => undefined);
      expect(isOver).toBe(true);
    });
    expect(instance.events.at(-1)).toMatchObject({ type: "ending", reason: "timeout" });
  });

  it("serves CDP to several clients, through its egress socket, and keeps downloads", async () => {
    await using instance = await runInstance({ chromium });
    expect(await instance.assign({ session_id: "s1", start_url: siteUrl })).toBe(200);
    const [first, second] = await Promise.all([instance.connect(), instance.connect()]).then((sockets) =>
      sockets.map(cdpClient),
    );
    if (first === undefined || second === undefined) throw new Error("unreachable");
    expect(await first.send("Browser.getVersion")).toHaveProperty("result.protocolVersion", "1.3");
    await eventuallyPasses(async () => {
      const { result } = (await second.send("Target.getTargets")) as {
        result: { targetInfos: { type: string; url: string; title: string }[] };
      };
      expect(result.targetInfos.filter(({ type }) => type === "page")).toMatchObject([
        { url: siteUrl, title: "Shoal" },
      ]);
    });
    await eventuallyPasses(() => {
      expect(instance.egress.hosts).toContain(new URL(siteUrl).host);
    });

    await first.send("Target.createTarget", { url: `${siteUrl}file.txt` });
    const file = join(instance.config.root, instance.config.home, "Downloads", "file.txt");
    await until(() => existsSync(file));
    expect(await readFile(file, "utf8")).toBe("downloaded");
  });

  it("keeps the browser running when Playwright or Puppeteer closes it", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ viewport: { width: 1280, height: 800 } });
    const bridge = await bridgeTo(instance.config.listen_path);
    try {
      const withPlaywright = await playwright.connectOverCDP(bridge.url);
      const page = await withPlaywright.newPage();
      await page.goto(siteUrl);
      expect(await page.title()).toBe("Shoal");
      const [popup] = await Promise.all([page.waitForEvent("popup"), page.evaluate(() => window.open("about:blank"))]);
      await popup.close();
      expect((await page.screenshot()).length).toBeGreaterThan(1_000);

      const withPuppeteer = await puppeteer.connect({ browserWSEndpoint: bridge.url, defaultViewport: null });
      expect((await withPuppeteer.pages()).map((open) => open.url())).toContain(siteUrl);
      await withPuppeteer.close();
      expect(await page.title()).toBe("Shoal");
      await withPlaywright.close();

      const after = cdpClient(await instance.connect());
      expect(await after.send("Browser.getVersion")).toHaveProperty("result");
      expect(instance.events.some(({ type }) => type === "browser_restarted")).toBe(false);
    } finally {
      bridge.close();
    }
  });

  it("answers Browser.close itself and closes only its sender with 1000", async () => {
    await using instance = await runInstance({ chromium });
    const closing = cdpClient(await instance.connect());
    const staying = cdpClient(await instance.connect());
    expect(await closing.send("Browser.close")).toEqual({ id: 1, result: {} });
    expect(await closing.closed).toMatchObject({ code: 1000 });
    expect(await staying.send("Browser.getVersion")).toHaveProperty("result");
  });

  it("answers commands that are invalid JSON for it and valid for Chromium", async () => {
    await using instance = await runInstance({ chromium });
    const socket = await instance.connect();
    const client = cdpClient(socket);
    for (const command of [
      '{\v"id":1,"method":"Browser.close"}',
      '{"id":1,\f"method":"Browser.close"}',
      String.raw`{"id":1,"method":"Browser.close","params":{"x":"\v"}}`,
      '{"id":1,"method":"Browser.close","params":{"x":"\n"}}',
    ]) {
      const answered = once(socket, "message") as Promise<[Buffer]>;
      socket.send(command);
      expect([command, String((await answered)[0])]).toEqual([command, expect.stringContaining("Invalid JSON")]);
    }
    expect(await client.send("Browser.getVersion")).toHaveProperty("result");
    expect(instance.events.some(({ type }) => type === "browser_restarted")).toBe(false);
  });

  it("opens existing and new pages at the requested size", async () => {
    await using instance = await runInstance({ chromium });
    const client = cdpClient(await instance.connect());
    async function sizes(targetId: string): Promise<unknown> {
      const { result } = (await client.send("Target.attachToTarget", { targetId, flatten: true })) as {
        result: { sessionId: string };
      };
      const answer = await client.send(
        "Runtime.evaluate",
        { expression: "[innerWidth, innerHeight, screen.width]", returnByValue: true },
        result.sessionId,
      );
      return (answer as { result: { result: { value: unknown } } }).result.result.value;
    }
    const { result } = (await client.send("Target.getTargets")) as {
      result: { targetInfos: { type: string; targetId: string }[] };
    };
    const first = result.targetInfos.find(({ type }) => type === "page");
    await eventuallyPasses(async () => {
      expect(await sizes(first?.targetId ?? "")).toEqual([1920, 1080, 1920]);
    });
    await instance.assign({ viewport: { width: 1234, height: 777 }, start_url: siteUrl });
    await eventuallyPasses(async () => {
      expect(await sizes(first?.targetId ?? "")).toEqual([1234, 777, 1234]);
    });
    await eventuallyPasses(() => {
      expect(instance.egress.hosts).toContain(new URL(siteUrl).host);
    });
    for (const params of [{ url: "about:blank" }, { url: "about:blank", newWindow: true }]) {
      const created = (await client.send("Target.createTarget", params)) as { result: { targetId: string } };
      await eventuallyPasses(async () => {
        expect(await sizes(created.result.targetId)).toEqual([1234, 777, 1234]);
      });
    }
    const small = (await client.send("Target.createTarget", {
      url: "about:blank",
      newWindow: true,
      width: 600,
      height: 500,
    })) as {
      result: { targetId: string };
    };
    await eventuallyPasses(async () => {
      expect(await sizes(small.result.targetId)).toMatchObject({ 0: 600 });
    });
  });

  it("restarts a crashed browser once, and ends at the second crash", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ viewport: { width: 1000, height: 700 } });
    const first = cdpClient(await instance.connect());
    killBrowser(instance.config.session_dir);
    expect((await first.closed).code).toBe(1012);
    expect(await instance.event(({ type }) => type === "browser_restarted")).toMatchObject({ signal: "SIGKILL" });

    const second = cdpClient(await instance.connect());
    expect(await second.send("Browser.getVersion")).toHaveProperty("result");
    killBrowser(instance.config.session_dir);
    expect((await second.closed).code).toBe(1011);
    expect(await instance.event(({ type }) => type === "ending")).toMatchObject({
      reason: "browser_crashed",
      detail: expect.stringContaining("SIGKILL") as unknown,
    });
    expect(await instance.exited).toBe(0);
    await until(() => instance.browserPids().length === 0);
  });

  it("leaves no browser behind when it is killed, at once or later", async () => {
    for (const wait of [false, true]) {
      await using instance = await runInstance({ chromium });
      if (wait) await instance.connect();
      instance.process.kill("SIGKILL");
      await instance.exited;
      await until(() => instance.browserPids().length === 0);
    }
  });

  it("ends with all its processes when its stdin ends", async () => {
    await using instance = await runInstance({ chromium });
    const client = cdpClient(await instance.connect());
    instance.process.stdin?.end();
    expect(await instance.event(({ type }) => type === "ending")).toMatchObject({ reason: "stopped" });
    expect((await client.closed).code).toBe(1001);
    expect(await instance.exited).toBe(0);
    // The whole group is killed at once; the kernel removes its last processes a moment later.
    await until(() => processesWith(instance.config.session_dir).length === 0);
    expect(existsSync(instance.config.listen_path)).toBe(false);
  });

  it("ends after its idle timeout, counted from the end of the last client", async () => {
    await using instance = await runInstance({ chromium });
    await instance.ready();
    const socket = await instance.connect();
    await instance.assign({ timeout_seconds: 1 });
    await instance.event((event) => event.type === "activity" && event.idle_since_ms === null);
    await cdpClient(socket).send("Browser.getVersion");
    expect(instance.events.some(({ type }) => type === "ending")).toBe(false);
    socket.close();
    const idle = await instance.event((event) => event.type === "activity" && event.idle_since_ms !== null);
    expect(await instance.event(({ type }) => type === "ending")).toMatchObject({ reason: "timeout" });
    const waitedMs = Date.now() - (idle.type === "activity" ? (idle.idle_since_ms ?? 0) : 0);
    expect(waitedMs).toBeGreaterThan(990);
    expect(await instance.exited).toBe(0);
  });
});

/** Playwright and Puppeteer cannot connect to Unix sockets. */
async function bridgeTo(path: string): Promise<{ url: string; close(): void }> {
  const { connect, createServer: createTcpServer } = await import("node:net");
  const server = createTcpServer((client) => {
    const instance = connect(path);
    client.on("error", () => instance.destroy());
    instance.on("error", () => client.destroy());
    client.pipe(instance).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `ws://127.0.0.1:${String((server.address() as AddressInfo).port)}/cdp`,
    close() {
      server.close();
    },
  };
}
