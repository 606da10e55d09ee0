import { build } from "esbuild";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { profile, reply, serve } from "./testing/misbehaving-server.ts";
import type { PageReport } from "./testing/page-script.ts";

const chromium = [
  process.env.SHOAL_CHROMIUM,
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
].find((path) => path !== undefined && existsSync(path));

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}

function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://x");
  if (pathname.endsWith("/redirect")) response.writeHead(302, { location: "/elsewhere" }).end();
  else if (pathname === "/api/profiles") {
    const last = searchParams.has("offset");
    reply(
      response,
      200,
      [{ ...profile, id: last ? "p2" : "p1" }],
      last ? {} : { "x-has-more": "true", "x-next-offset": "1" },
    );
  } else if (pathname.startsWith("/api/profiles")) reply(response, 200, profile);
  else if (request.method !== "GET")
    reply(response, body.includes("hello") || body.includes('name="files[0][file]"; filename="a.txt"') ? 201 : 400);
  else if (pathname.endsWith("/events")) {
    const id = Number(request.headers["last-event-id"] ?? 0) + 1;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(`id: ${id}\ndata: {"type":"CREATE","path":"/${id}"}\n\n`, () => {
      if (id === 2) response.end();
      else setTimeout(() => response.destroy(), 50);
    });
  } else response.writeHead(200, { "content-type": "application/octet-stream" }).end("bytes");
}

it.skipIf(chromium === undefined && process.env.SHOAL_REQUIRE_ALL !== "1").each([
  ["web page", '<script type="module" src="/page-script.js"></script>'],
  ["web worker", '<script>new Worker("/page-script.js", { type: "module" });</script>'],
])(
  chromium === undefined ? "runs in a %s (needs a Chromium: install one, or set SHOAL_CHROMIUM)" : "runs in a %s",
  async (_, page) => {
    const { outputFiles } = await build({
      entryPoints: [join(import.meta.dirname, "testing/page-script.ts")],
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "browser",
      conditions: ["@shoal/source"],
      outdir: "/page",
      write: false,
    });
    const scripts = new Map(outputFiles.map((file) => [`/${basename(file.path)}`, file.text]));
    const { promise: report, resolve } = Promise.withResolvers<PageReport>();
    await using server = await serve((request, response) => {
      const url = request.url ?? "";
      const script = scripts.get(url);
      if (script !== undefined) response.writeHead(200, { "content-type": "text/javascript" }).end(script);
      else if (url === "/") response.writeHead(200, { "content-type": "text/html" }).end(page);
      else {
        void textOf(request).then((body) => {
          if (url === "/report") {
            response.end();
            resolve(JSON.parse(body) as PageReport);
          } else answer(request, response, body);
        });
      }
    });
    const folder = await mkdtemp(join(tmpdir(), "shoal-page-"));
    const browser = spawn(
      chromium ?? "chromium",
      [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--remote-debugging-port=0",
        `--user-data-dir=${folder}`,
        `${server.baseUrl}/`,
      ],
      { stdio: "ignore", detached: true },
    );
    const ended = once(browser, "exit");
    try {
      expect(await Promise.race([report, ended.then(() => "Chromium ended before the page reported.")])).toEqual({
        call: "p1",
        page: ["p1", "p2"],
        download: "bytes",
        events: ["/1", "/2"],
        redirect: "redirected",
        refused: "connection_failed",
      });
    } finally {
      // Kill the whole group: on Debian the program is a shell script, and the browser its child.
      if (browser.pid !== undefined) process.kill(-browser.pid, "SIGKILL");
      await ended;
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  },
);
