import { createId } from "@shoal/primitives";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sessionRow } from "../../testing/session-row.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { HandoffStore } from "./handoff-store.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

// PostgreSQL plans a prepared statement again at each of its first five executions.
it("begins many handoffs, one at a time", async () => {
  const { id: project_id } = await server.database.query
    .selectFrom("projects")
    .select("id")
    .where("is_default", "=", true)
    .executeTakeFirstOrThrow();
  const session = { id: createId(), project_id };
  await server.database.query.insertInto("sessions").values(sessionRow(session)).execute();
  const store = new HandoffStore(server.database);
  const begin = () =>
    store.insert(session, createId(), { message: "Sign in", on_automation: "wait", timeout_seconds: 60 });
  for (let count = 0; count < 20; count += 1) {
    const row = await begin();
    expect(await begin()).toBeUndefined();
    await store.end(row?.id ?? "", { status: "released", released_by: "program", note: null });
  }
});
