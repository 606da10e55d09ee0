import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../testing/test-server.ts";

const origin = "https://attacker.example";
const sockets = [
  ...["/", "/cdp", "/devtools/browser", "/playwright", "/chromium/playwright"],
  ...["/browserless", "/browserless/chromium", "/steel"],
];
/** Each creates something for a client with a key. */
const operations = [
  ["/browserbase/v1/sessions", "{}"],
  ["/steel/v1/sessions", "{}"],
  ["/browserless/content", `{"html":"x"}`],
  ["/cloudflare/accounts/any/browser-rendering/content", `{"html":"x"}`],
  ["/wd/hub/session", `{"capabilities":{}}`],
  ["/session", `{"capabilities":{}}`],
] as const;

describe("a page of another site", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ dialects: ["browserbase", "browserless", "cloudflare", "steel", "webdriver"] });
  });
  afterAll(async () => {
    await server.close();
  });
  const sessions = async () => (await server.request("GET", "/browsers?status=all")).body;

  it.each(sockets)("cannot open the socket %s, although it knows a key", async (path) => {
    const asking = request(`${server.baseUrl}${path}?token=${server.key}`, {
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        // Of the client that these sockets expect.
        ...(path.endsWith("playwright") && { "user-agent": "Playwright/1.65.1 (x64; debian 12) node/24.21" }),
        origin,
      },
      agent: false,
    }).end();
    const [answer] = (await once(asking, "response")) as [IncomingMessage];
    const sentence = await text(answer);
    expect([answer.statusCode, sentence]).toEqual([403, expect.stringContaining("may not connect")]);
    expect(sentence).not.toContain(server.key);
    expect(await sessions()).toEqual([]);
  });

  it.each(operations)("cannot read or prepare a request to %s", async (path, body) => {
    const preflight = await fetch(server.baseUrl + path, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization" },
    });
    expect(preflight.headers.get("access-control-allow-origin")).toBeNull();
    // Pages send these without a preflight, and without a key.
    const headers = { origin, "content-type": "text/plain", cookie: `token=${server.key}` };
    const answer = await fetch(server.baseUrl + path, { method: "POST", headers, body });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([401, null]);
    expect(await sessions()).toEqual([]);
  });

  it.each([...operations, ["/browsers", "{}"] as const])(
    "whose name leads to this machine needs a key for %s",
    async (path, body) => {
      // The browser of the page sends its own name as the host.
      const headers = {
        host: "attacker.example",
        origin: "http://attacker.example",
        "content-type": "application/json",
      };
      const asking = request(server.baseUrl + path, { method: "POST", headers, agent: false }).end(body);
      const [answer] = (await once(asking, "response")) as [IncomingMessage];
      answer.resume();
      expect(answer.statusCode).toBe(401);
      expect(await sessions()).toEqual([]);
    },
  );
});
