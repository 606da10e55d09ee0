import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Browser } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "shoal-stopped-"));
  server = await startTestServer({ placement: "process" });
});
afterAll(async () => {
  await server.close();
  await rm(directory, { recursive: true });
});

it("ends an unused session whose program stopped the instance", async () => {
  const go = path.join(directory, "go");
  const { session_id: id } = Browser.parse(
    (await server.request("POST", "/browsers", { body: { timeout_seconds: 20 } })).body,
  );
  const { status } = await server.request("POST", `/browsers/${id}/process/spawn`, {
    body: { command: "/bin/sh", args: ["-c", 'until [ -e "$0" ]; do sleep 0.1; done; kill -STOP $PPID', go] },
  });
  expect(status).toBe(200);
  // A request is a use while the stopped instance does not answer it.
  await writeFile(go, "");
  const rows = () =>
    server.database.query.selectFrom("sessions").select(["ended_reason"]).where("id", "=", id).execute();
  await expect.poll(rows).toEqual([{ ended_reason: "timeout" }]);
  // Otherwise the instance ended it.
  expect(server.log()).toContain("the session's instance did not end it after its idle timeout");
});
