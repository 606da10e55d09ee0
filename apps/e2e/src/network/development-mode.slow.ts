import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium, type Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { placements } from "../testing/components.ts";
import { runService, useService } from "../testing/service.ts";

/** Like Vite's: serves a page, modules, and a WebSocket that announces changes. */
const server = createServer((request, response) => {
  if (request.url?.startsWith("/module.js"))
    response.writeHead(200, { "content-type": "text/javascript" }).end(`document.title = ${JSON.stringify(version)};`);
  else
    response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><script type="module">
      await import("/module.js?0");
      const socket = new WebSocket("ws://" + location.host, "vite-hmr");
      socket.onopen = () => socket.send("ready");
      socket.onmessage = ({ data }) => import("/module.js?" + data);
    </script>`);
});
const sockets = new WebSocketServer({ server, handleProtocols: () => "vite-hmr" });
let version = "one";
let port: string;

beforeAll(async () => {
  // Node and Vite listen on `localhost`, which may be ::1 only.
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  port = String((server.address() as AddressInfo).port);
});
afterAll(() => {
  sockets.close();
  server.closeAllConnections();
  server.close();
});

describe.each(placements)("development mode in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with a development server on this machine", () => {
    const dev = useService(() => ["--placement", placement, "--dev"]);
    const normal = useService(() => ["--placement", placement]);
    let browser: Browser;
    afterAll(() => browser.close());

    it("opens localhost, and updates modules over its WebSocket", async () => {
      version = "one";
      const ready = new Promise<WebSocket>((resolve) => {
        sockets.once("connection", (socket: WebSocket) => {
          socket.once("message", () => {
            resolve(socket);
          });
        });
      });
      const session = await dev.shoal.browsers.create({ timeout_seconds: 600 });
      browser = await chromium.connectOverCDP(session.cdp_ws_url);
      const page = await browser.contexts()[0]?.newPage();
      await page?.goto(`http://localhost:${port}/`);
      await page?.waitForFunction("document.title === 'one'");
      version = "two";
      (await ready).send("1");
      await page?.waitForFunction("document.title === 'two'");
    });

    it("names the option on the error page of localhost", async () => {
      const session = await normal.shoal.browsers.create({ timeout_seconds: 600 });
      const { error } = await normal.shoal.browsers.playwright.execute(session.session_id, {
        code: `await page.goto("http://localhost:${port}/")`,
      });
      expect(error).toContain("To allow all ports of the service's machine, run it with --dev.");
    });

    it("needs an address of loopback", async () => {
      const started = runService(["--placement", placement, "--dev", "--host", "0.0.0.0"]);
      await expect(started).rejects.toThrow(/Development mode \(--dev\)[^]*listens on 0\.0\.0\.0/);
    });
  });
});
