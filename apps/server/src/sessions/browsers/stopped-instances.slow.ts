import { Browser, SpawnedProcess } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ placement: "process" });
});
afterAll(() => server.close());

it("ends an unused session whose program stopped the instance", async () => {
  const { session_id: id } = Browser.parse(
    (await server.request("POST", "/browsers", { body: { timeout_seconds: 20 } })).body,
  );
  const { body, status } = await server.request("POST", `/browsers/${id}/process/spawn`, {
    body: { command: "/bin/sh", args: ["-c", "read instance; kill -STOP $PPID"] },
  });
  expect(status).toBe(200);
  const { process_id: processId } = SpawnedProcess.parse(body);
  // It may never be answered.
  const written = server
    .request("POST", `/browsers/${id}/process/${processId}/stdin`, { body: { data_b64: btoa("go\n") } })
    .catch(() => undefined);
  const rows = () =>
    server.database.query.selectFrom("sessions").select(["ended_reason"]).where("id", "=", id).execute();
  await expect.poll(rows).toEqual([{ ended_reason: "timeout" }]);
  // Otherwise the instance ended it.
  expect(server.log()).toContain("the session's instance did not end it after its idle timeout");
  await written;
});
