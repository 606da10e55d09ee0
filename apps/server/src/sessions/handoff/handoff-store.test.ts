import { createId } from "@shoal/primitives";
import { afterAll, beforeAll, expect, it } from "vitest";
import { inTwoYears } from "../../testing/in-two-years.ts";
import { sessionRow } from "../../testing/session-row.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { HandoffStore } from "./handoff-store.ts";
import { StoredPersonLinks } from "./person-links.ts";

const never = () => () => undefined;
const none = () => Promise.resolve(undefined);

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

async function addSession(): Promise<{ readonly id: string; readonly project_id: string }> {
  const { id: project_id } = await server.database.query
    .selectFrom("projects")
    .select("id")
    .where("is_default", "=", true)
    .executeTakeFirstOrThrow();
  const session = { id: createId(), project_id };
  await server.database.query.insertInto("sessions").values(sessionRow(session)).execute();
  return session;
}

// PostgreSQL plans a prepared statement again at each of its first five executions.
it("begins many handoffs, one at a time", async () => {
  const session = await addSession();
  const store = new HandoffStore(server.database);
  const begin = () =>
    store.insert(session, createId(), { message: "Sign in", on_automation: "wait", timeout_seconds: 60 });
  for (let count = 0; count < 20; count += 1) {
    const row = await begin();
    expect(await begin()).toBeUndefined();
    await store.end(row?.id ?? "", { status: "released", released_by: "program", note: null });
  }
});

it("admits the link of a person on a server whose clock is ahead, while the automation is paused", async () => {
  const session = await addSession();
  const store = new HandoffStore(server.database);
  const wishes = { message: "Sign in", on_automation: "wait", timeout_seconds: 60 } as const;
  const { id } = (await store.insert(session, createId(), wishes)) ?? { id: "" };
  const links = new StoredPersonLinks({ handoffs: { store, onChange: never }, links: { find: none, onChange: never } });
  const find = () => links.find({ link: { kind: "handoff", id }, sessionId: session.id });
  await inTwoYears(async () => {
    expect(await find()).toMatchObject({ linkId: id, mode: "watch" });
    expect(await store.active(session.id)).toMatchObject({ id });
  });
  await server.database.query
    .updateTable("handoffs")
    .set({ expires_at: new Date(0) })
    .where("id", "=", id)
    .execute();
  await expect(find()).rejects.toMatchObject({ status: 401 });
});
