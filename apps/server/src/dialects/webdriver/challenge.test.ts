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
