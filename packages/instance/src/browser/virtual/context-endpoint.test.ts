import { request } from "node:http";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { CdpConnection } from "../cdp/cdp-connection.ts";
import { ContextEndpoint } from "./context-endpoint.ts";
import { ContextJson } from "./context-json.ts";
import { OwnTargets } from "./own-targets.ts";

const cdp = { send: () => Promise.resolve({ targetInfos: [] }) } as unknown as CdpConnection;
const browser = { port: 1, path: "/devtools/browser/x" };
const endpoint = new ContextEndpoint({
  scope: { contextId: "own", root: tmpdir(), targets: new OwnTargets(cdp, "own") },
  browser,
  json: new ContextJson(cdp, browser),
  secret: "secret",
});
beforeAll(() => endpoint.listen());
afterAll(() => {
  endpoint.close();
});

const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };

function statusOf(path: string, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const key = { "sec-websocket-key": Buffer.alloc(16).toString("base64") };
    request({ host: "127.0.0.1", port: endpoint.endpoint.port, path, headers: { ...key, ...headers } })
      .on("response", (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
      .on("upgrade", ({ statusCode }, socket) => {
        socket.destroy();
        resolve(statusCode);
      })
      .on("error", reject)
      .end();
  });
}

it("refuses pages, and connections without the secret", async () => {
  const origin = "http://127.0.0.1:8000";
  const { path } = endpoint.endpoint;
  expect(await statusOf("/json/list", {})).toBe(200);
  expect(await statusOf("/json/list", { "user-agent": "Mozilla/5.0" })).toBe(403);
  expect(await statusOf("/json/list", { origin })).toBe(403);
  expect(await statusOf(path, upgrade)).toBe(101);
  expect(await statusOf("/devtools/browser/guess", upgrade)).toBe(404);
  for (const refused of [path, "/devtools/page/ABC"]) expect(await statusOf(refused, { ...upgrade, origin })).toBe(403);
});
