import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingFor } from "./testing/components.ts";
import { useService } from "./testing/service.ts";
import { useSession } from "./testing/session.ts";

const missing = missingFor("sandbox");
const chromedriver = "/usr/bin/chromedriver";
const command = join(import.meta.dirname, "../../cli/dist/shoal.js");

describe.skipIf(missing !== undefined)(`shoal browsers cdp-port${missing === undefined ? "" : ` (skipped, ${missing})`}`, () => {
  const test = useService(() => ["--placement", "sandbox"]);
  const session = useSession(test);
  let child: ChildProcess;
  let address: string;
  beforeAll(async () => {
    const { apiKey, baseUrl } = test.service;
    child = spawn(process.execPath, [command, "browsers", "cdp-port", session.id, "--port", "0"], {
      env: { ...process.env, SHOAL_API_KEY: apiKey, SHOAL_BASE_URL: baseUrl },
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (child.stdout === null) throw new Error("The command has no output.");
    const lines = createInterface(child.stdout);
    address = await new Promise<string>((resolve) => lines.once("line", resolve));
  }, 30_000);
  afterAll(async () => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGINT");
    await ended;
  });

  it("serves clients that take a host and a port only", async () => {
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const withPuppeteer = await puppeteer.connect({ browserURL: address, defaultViewport: null });
    const page = await withPuppeteer.newPage();
    await page.setContent("<title>by port</title>");
    const withPlaywright = await chromium.connectOverCDP(address);
    const pages = withPlaywright.contexts().flatMap((context) => context.pages());
    expect(await Promise.all(pages.map((open) => open.title()))).toContain("by port");
    await withPlaywright.close();
    await withPuppeteer.disconnect();
    const targets = (await (await fetch(`${address}/json/list`)).json()) as { webSocketDebuggerUrl: string }[];
    expect(targets.length).toBeGreaterThan(0);
    for (const { webSocketDebuggerUrl } of targets) expect(webSocketDebuggerUrl).toMatch(`${address.replace("http", "ws")}/devtools/page/`);
    expect(JSON.stringify(targets)).not.toContain("jwt");
  });

  it.skipIf(!existsSync(chromedriver))("takes chromedriver, so that WebDriver classic works", async () => {
    const driver = spawn(chromedriver, ["--port=0"], { stdio: ["ignore", "pipe", "ignore"] });
    try {
      const port = await new Promise<string>((resolve) => {
        createInterface(driver.stdout).on("line", (line) => {
          const found = /started successfully on port (\d+)/.exec(line)?.[1];
          if (found !== undefined) resolve(found);
        });
      });
      const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
        const answer = await fetch(`http://127.0.0.1:${port}/session${path}`, { method, ...(body && { body: JSON.stringify(body) }) });
        return ((await answer.json()) as { value: unknown }).value;
      };
      const capabilities = { alwaysMatch: { "goog:chromeOptions": { debuggerAddress: new URL(address).host } } };
      const { sessionId } = (await ask("POST", "", { capabilities })) as { sessionId: string };
      await ask("POST", `/${sessionId}/url`, { url: "data:text/html,<title>classic</title>" });
      expect(await ask("GET", `/${sessionId}/title`)).toBe("classic");
      await ask("DELETE", `/${sessionId}`);
      expect((await test.shoal.browsers.get(session.id)).browser_restarts).toBe(0);
    } finally {
      driver.kill();
    }
  });

  it("refuses web pages: foreign names for this machine, and WebSockets with an origin", async () => {
    const statusOf = (headers: Record<string, string>, path = "/json/version") =>
      new Promise<number | undefined>((resolve, reject) => {
        request(`${address}${path}`, { headers }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on("error", reject)
          .on("upgrade", (_response, socket) => {
            socket.destroy();
            resolve(101);
          })
          .end();
      });
    const upgrade = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": Buffer.alloc(16, 1).toString("base64"),
    };
    expect(await statusOf({ host: "rebound.example:9222" })).toBe(403);
    expect(await statusOf({}, "/browsers")).toBe(404);
    expect(await statusOf({ ...upgrade, origin: "https://site.example" }, "/cdp")).toBe(403);
    expect(await statusOf({ ...upgrade, host: "rebound.example" }, "/cdp")).toBe(403);
    expect(await statusOf(upgrade, "/process/1/attach")).toBe(403);
    expect(await statusOf(upgrade, "/cdp")).toBe(101);
  });
});
