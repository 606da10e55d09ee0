import { Browser } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type HostileInstances, startHostileInstances } from "../../testing/hostile-instance.ts";
import { startTestServer, type TestReply, type TestServer } from "../../testing/test-server.ts";

let instances: HostileInstances;
let server: TestServer;
beforeAll(async () => {
  instances = await startHostileInstances();
  server = await startTestServer({ profile_checkpoint_seconds: 0 }, { aroundPlacement: instances.around });
  expect((await server.request("POST", "/profiles", { body: { name: "kept" } })).status).toBe(201);
});
afterAll(async () => {
  await server.close();
  await instances.close();
});

const start = async (more: object = {}) =>
  Browser.parse((await server.request("POST", "/browsers", { body: { timeout_seconds: 600, ...more } })).body);
const errors = () =>
  server
    .log()
    .split("\n")
    .filter((line) => line.includes('"level":"error"'));

/** Starts a call that the instance receives but does not answer. */
async function callInFlight(session: Browser): Promise<{ readonly reply: Promise<TestReply> }> {
  const arrived = Promise.withResolvers<undefined>();
  instances.answer = () => {
    arrived.resolve(undefined);
  };
  const reply = server.request("GET", `/browsers/${session.session_id}/fs/list_files?path=/`);
  await arrived.promise;
  return { reply };
}

it("reports to a call in flight that its session was deleted, and logs no error", async () => {
  const session = await start();
  const { reply } = await callInFlight(session);
  expect((await server.request("DELETE", `/browsers/${session.session_id}`)).status).toBe(204);
  const { body, status } = await reply;
  expect([status, body]).toEqual([
    404,
    expect.objectContaining({ code: "not_found", message: expect.stringContaining("(deleted)") as unknown }),
  ]);
  expect(errors()).toEqual([]);
});

it("answers 503 to a call whose instance breaks off, and logs no error", async () => {
  const session = await start();
  instances.answer = (socket) => socket.destroy();
  const { body, status } = await server.request("GET", `/browsers/${session.session_id}/fs/list_files?path=/`);
  expect([status, body]).toEqual([503, expect.objectContaining({ code: "browser_not_running" })]);
  expect((await server.request("DELETE", `/browsers/${session.session_id}`)).status).toBe(204);
  expect(errors()).toEqual([]);
});

it("asks a call in flight to retry when the server stops, and logs no error", async () => {
  const { reply } = await callInFlight(await start());
  const closing = server.running.close(0);
  const { body, headers, status } = await reply;
  expect([status, headers.get("retry-after"), body]).toEqual([
    503,
    "2",
    expect.objectContaining({ code: "shutting_down" }),
  ]);
  await closing;
  expect(errors()).toEqual([]);
});
