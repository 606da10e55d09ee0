import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ dialects: ["webdriver"] });
});
afterAll(() => server.close());

/** Each value of the header: clients read them one by one. */
async function challengesOf(path: string, more: Readonly<Record<string, string>> = {}) {
  const headers = { "content-type": "application/json", ...more };
  const asking = request(server.baseUrl + path, { method: "POST", headers, agent: false }).end("{}");
  const [answer] = (await once(asking, "response")) as [IncomingMessage];
  answer.resume();
  return { status: answer.statusCode, challenges: answer.headersDistinct["www-authenticate"] };
}

const both = { status: 401, challenges: ["Bearer", 'Basic realm="Shoal"'] };
const bearer = { status: 401, challenges: ["Bearer"] };
const basic = (key: string) => ({ authorization: `Basic ${Buffer.from(`any:${key}`).toString("base64")}` });

it.each(["/wd/hub/session", "/session", "/session?browserName=chrome"])(
  "a new session at %s without a valid key is answered with a Basic challenge, which clients of Java wait for",
  async (path) => {
    expect(await challengesOf(path)).toEqual(both);
    expect(await challengesOf(path, basic("sk_shoal_wrong"))).toEqual(both);
    // `{}` has no capabilities.
    expect((await challengesOf(path, basic(server.key))).status).toBe(400);
  },
);

it("a page of a browser gets no Basic challenge, so that it does not ask its user", async () => {
  expect(await challengesOf("/wd/hub/session", { origin: "https://attacker.example" })).toEqual(bearer);
});

it("other operations have no Basic challenge", async () => {
  expect(await challengesOf("/browsers")).toEqual(bearer);
});

it.each([
  ["GET", "/wd/hub/graphql", 404, "unknown command"],
  ["GET", "/session/unknown/title", 404, "invalid session id"],
  ["POST", "/wd/hub/session/unknown/url", 404, "invalid session id"],
  ["PUT", "/wd/hub/session", 405, "unknown method"],
  ["DELETE", "/browsers/k3f9k3f9k3f9k3f9k3f9k3f9/wd/session", 401, "unknown error"],
])("errors of %s %s have the shape of WebDriver", async (method, path, status, error) => {
  const answer = await fetch(server.baseUrl + path, { method });
  const text = expect.any(String) as string;
  expect([answer.status, await answer.json()]).toEqual([status, { value: { error, message: text, stacktrace: "" } }]);
});

it.each(["/status", "/wd/hub/status"])("%s needs no key", async (path) => {
  const { value } = (await (await fetch(server.baseUrl + path)).json()) as { readonly value: object };
  expect(value).toEqual({ ready: true, message: "The service creates sessions." });
});

it("describes itself in an OpenAPI document", async () => {
  const answer = await fetch(`${server.baseUrl}/webdriver/openapi.json`);
  expect(await answer.json()).toMatchObject({
    paths: { "/webdriver/session": { post: {} } },
    components: { securitySchemes: { key: { type: "http", scheme: "basic" } } },
  });
});
