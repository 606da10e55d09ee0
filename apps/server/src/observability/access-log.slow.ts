import { mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { StartError } from "../config/start-error.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";
import { openAccessLog } from "./access-log.ts";

let folder: string;
let file: string;
let server: TestServer;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-access-"));
  file = join(folder, "access.log");
  server = await startTestServer({ access_log: file, trusted_proxies: ["127.0.0.1"] });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Line {
  readonly request_id: string;
  readonly [name: string]: unknown;
}
const linesIn = (path: string) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((text) => text !== "")
    .map((text) => JSON.parse(text) as Line);

async function lineOf(requestId: string): Promise<Line | undefined> {
  const find = () => linesIn(file).find(({ request_id }) => request_id === requestId);
  await expect.poll(find).toBeDefined();
  return find();
}

it("writes a line without secrets for each request", async () => {
  await server.request("POST", "/profiles?", {
    body: { name: ["body-secret"] },
    headers: {
      "x-request-id": "line-1",
      "user-agent": "agent/1",
      "x-forwarded-for": "203.0.113.5",
      cookie: "cookie-secret",
    },
  });
  expect(await lineOf("line-1")).toEqual({
    time: expect.stringMatching(/^\d{4}-.*Z$/) as unknown,
    request_id: "line-1",
    client_ip: "203.0.113.5",
    method: "POST",
    path: "/profiles",
    operation: "profiles.create",
    status: 400,
    duration_ms: expect.any(Number) as unknown,
    key_id: expect.any(String) as unknown,
    project_id: expect.any(String) as unknown,
    user_agent: "agent/1",
  });
  await server.request("GET", "/browsers/nobody/fs/read_file?path=%2Fsecret-path&jwt=secret-token", {
    headers: { "x-request-id": "line-2" },
  });
  expect(await lineOf("line-2")).toMatchObject({
    path: "/browsers/nobody/fs/read_file",
    operation: "browsers.fs.readFile",
    status: 401,
  });
  await server.request("GET", `/profiles/${server.key}`, {
    key: "sk_shoal_invalid-key",
    headers: { "x-request-id": "line-3", "user-agent": `leaks/${server.key}` },
  });
  expect(await lineOf("line-3")).toMatchObject({ status: 401 });
  await server.request("GET", "/no/such", { headers: { "x-request-id": "line-4" } });
  expect(await lineOf("line-4")).toMatchObject({ operation: "none", status: 404 });
  const text = readFileSync(file, "utf8");
  for (const secret of [
    server.key.slice(9),
    "body-secret",
    "cookie-secret",
    "secret-path",
    "secret-token",
    "invalid-key",
  ])
    expect(text).not.toContain(secret);
});

it("reopens the file after log rotation", async () => {
  const target = join(folder, "rotated.log");
  const log = openAccessLog(target, () => "");
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  log.requestEnded(request, response, 1);
  await expect.poll(() => linesIn(target).length).toBe(1);
  renameSync(target, `${target}.1`);
  log.reopen();
  await expect
    .poll(() => {
      log.requestEnded(request, response, 1);
      return linesIn(target).length;
    })
    .toBeGreaterThan(0);
  await log.close();
  expect(linesIn(`${target}.1`)).not.toHaveLength(0);
});

it("reports an unwritable file at start", () => {
  expect(() => openAccessLog(join(folder, "no", "such", "folder.log"), () => "")).toThrow(StartError);
});
