import { Browser } from "@shoal/schemas";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type HostileInstances, startHostileInstances } from "../testing/hostile-instance.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";
import { refuseSharedHost } from "./content-origin.ts";

let instances: HostileInstances;
let server: TestServer;
let session: Browser;
let token: string;
beforeAll(async () => {
  instances = await startHostileInstances();
  instances.answer = (socket) =>
    socket.write("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nok");
  server = await startTestServer(
    { content_url: "http://content.test", dialects: ["webdriver"] },
    { aroundPlacement: instances.around },
  );
  session = Browser.parse((await server.request("POST", "/browsers", { body: { timeout_seconds: 600 } })).body);
  token = new URL(session.cdp_ws_url).searchParams.get("jwt") ?? "";
});
afterAll(async () => {
  await server.close();
  await instances.close();
});

async function ask(
  path: string,
  host: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number | undefined; body: string }> {
  const asking = request(server.baseUrl + path, { headers: { host, ...headers }, agent: false }).end();
  const [answer] = (await once(asking, "response")) as [IncomingMessage];
  return { status: answer.statusCode, body: await text(answer) };
}

it("serves URLs with a session's token only on the content origin", async () => {
  expect(session.base_url).toBe(`http://content.test/sessions/${session.session_id}`);
  for (const tail of ["fs/read_file?path=/a&", "curl/raw?url=https://a.example/&"]) {
    const path = `/sessions/${session.session_id}/${tail}jwt=${token}`;
    expect(await ask(path, "content.test")).toEqual({ status: 200, body: "ok" });
    expect(await ask(path, "shoal.test")).toEqual({
      status: 404,
      body: expect.stringContaining("http://content.test") as unknown,
    });
  }
});

it("answers commands of WebDriver at the address of the service, as JSON that no page runs", async () => {
  const path = `/session/${token}/title`;
  const asking = request(server.baseUrl + path, { headers: { host: "shoal.test" }, agent: false }).end();
  const [answer] = (await once(asking, "response")) as [IncomingMessage];
  expect(answer.headers).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "content-security-policy": "sandbox",
    "x-content-type-options": "nosniff",
  });
  expect([answer.statusCode, await text(answer)]).toEqual([200, "ok"]);
  expect((await ask(path, "content.test")).status).toBe(404);
});

it("serves nothing else there: neither the API, nor live views, nor recordings", async () => {
  const authorization = `Bearer ${server.key}`;
  const liveView = new URL(session.browser_live_view_url ?? "").pathname;
  for (const path of [
    "/projects",
    `/browsers/${session.session_id}/fs/read_file?path=/a`,
    liveView,
    `${liveView}/state`,
    "/openapi.json",
    "/llms.txt",
    "/browser/replay/x",
  ])
    expect([path, (await ask(path, "content.test", { authorization })).status]).toEqual([path, 404]);
  expect((await ask("/projects", "shoal.test", { authorization })).status).toBe(200);
  expect((await ask(liveView, "shoal.test")).status).toBe(200);
  // The page for agents needs no key.
  expect(await ask("/llms.txt", "shoal.test")).toEqual({
    status: 200,
    body: expect.stringContaining("# Shoal") as unknown,
  });
  expect(await ask(`/browsers/${session.session_id}/fs/read_file?path=/a`, "shoal.test", { authorization })).toEqual({
    status: 200,
    body: "ok",
  });
});

it("refuses to start with both origins on one host", () => {
  expect(() => {
    refuseSharedHost({ content_url: "https://shoal.example:8443", public_url: "https://shoal.example/api" });
  }).toThrow("same host");
});
