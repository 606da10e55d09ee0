import { Browser } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { startTestServer, type TestServer } from "../testing/test-server.ts";
import { refusedUpgrade } from "../testing/upgrade.ts";

vi.setConfig({ testTimeout: 60_000 });

let server: TestServer;
let session: Browser;
beforeAll(async () => {
  server = await startTestServer();
  session = Browser.parse((await server.request("POST", "/browsers", { body: {} })).body);
}, 60_000);
afterAll(() => server.close());

it.each([
  ["a CDP address", () => session.cdp_ws_url],
  ["a live view", () => `${session.browser_live_view_url?.replace("http", "ws") ?? ""}/socket`],
])("refuses %s with a header that only servers may send, and goes on", async (_what, addressOf) => {
  expect(await refusedUpgrade(addressOf(), { "x-shoal-replica": "made-up" })).toMatchObject({ status: 401, body: { code: "unauthorized" } });
  expect((await server.request("GET", `/browsers/${session.session_id}`)).status).toBe(200);
});

it("answers a thousand requests at once with a session token, and logs no error", async () => {
  const { search } = new URL(session.cdp_ws_url);
  const request = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ command: "true" }),
  };
  const statuses = await Promise.all(
    Array.from({ length: 1000 }, async () => {
      const answer = await fetch(`${server.baseUrl}/browsers/${session.session_id}/process/exec${search}`, request);
      await answer.arrayBuffer();
      return answer.status;
    }),
  );
  // The session itself limits how many programs run.
  expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);
  expect(server.log()).not.toContain('"level":"error"');
});
