import { Browser } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { refusedUpgrade } from "../../testing/upgrade.ts";

let server: TestServer;
let session: Browser;
beforeAll(async () => {
  server = await startTestServer();
  session = Browser.parse((await server.request("POST", "/browsers", { body: { timeout_seconds: 3600 } })).body);
});
afterAll(() => server.close());

it.each([
  ["a CDP address", () => session.cdp_ws_url],
  ["a live view", () => `${session.browser_live_view_url?.replace("http", "ws") ?? ""}/socket`],
])("refuses %s with a header that only servers may send, and goes on", async (_what, addressOf) => {
  expect(await refusedUpgrade(addressOf(), { "x-shoal-replica": "made-up" })).toMatchObject({
    status: 401,
    body: { code: "unauthorized" },
  });
  expect((await server.request("GET", `/browsers/${session.session_id}`)).status).toBe(200);
});
