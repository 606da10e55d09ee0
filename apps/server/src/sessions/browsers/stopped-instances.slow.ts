import { Browser } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ placement: "process" });
});
afterAll(() => server.close());

it("ends an unused session whose program stopped the instance", async () => {
  const { session_id: id } = Browser.parse(
    (await server.request("POST", "/browsers", { body: { timeout_seconds: 10 } })).body,
  );
  const { status } = await server.request("POST", `/browsers/${id}/process/spawn`, {
    body: { command: "/bin/sh", args: ["-c", "sleep 2; kill -STOP $PPID"] },
  });
  expect(status).toBe(200);
  const rows = () =>
    server.database.query.selectFrom("sessions").select(["ended_reason"]).where("id", "=", id).execute();
  await expect.poll(rows).toEqual([{ ended_reason: "timeout" }]);
});
