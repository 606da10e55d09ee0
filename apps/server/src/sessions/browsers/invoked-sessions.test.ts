import { createId } from "@shoal/primitives";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { invocationRow } from "../../testing/invocation-row.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
let project: { id: string; key: string };

beforeAll(async () => {
  server = await startTestServer();
  project = await server.addProject("shop");
});
afterAll(() => server.close());

async function addInvocation(): Promise<string> {
  const id = createId();
  await server.database.query
    .insertInto("invocations")
    .values(invocationRow({ id, project_id: project.id }))
    .execute();
  return id;
}

async function finish(id: string, status: "succeeded" | "failed"): Promise<void> {
  await server.database.query
    .updateTable("invocations")
    .set({ status, finished_at: sql`now()` })
    .where("id", "=", id)
    .execute();
}

const create = (invocation_id: string, key = project.key) =>
  server.request("POST", "/browsers", { key, body: { invocation_id, timeout_seconds: 600 } });

async function created(invocation: string): Promise<string> {
  const { body, status } = await create(invocation);
  expect(status, JSON.stringify(body)).toBe(200);
  return (body as { session_id: string }).session_id;
}

async function endedReason(sessionId: string): Promise<string | null | undefined> {
  const row = await server.database.query
    .selectFrom("sessions")
    .select("ended_reason")
    .where("id", "=", sessionId)
    .executeTakeFirst();
  return row?.ended_reason;
}

it("ends the sessions of an invocation that fails, and no others", async () => {
  const [failing, other] = [await addInvocation(), await addInvocation()];
  const [ending, staying] = [await created(failing), await created(other)];
  await finish(failing, "failed");
  await expect.poll(() => endedReason(ending)).toBe("deleted");
  await finish(other, "succeeded");
  // A later change of another invocation shows that this one was handled.
  const last = await addInvocation();
  const witness = await created(last);
  await finish(last, "failed");
  await expect.poll(() => endedReason(witness)).toBe("deleted");
  expect(await endedReason(staying)).toBeNull();
});

it("refuses an invocation that has ended or belongs to another project", async () => {
  const ended = await addInvocation();
  await finish(ended, "succeeded");
  expect(await create(ended)).toMatchObject({ status: 409, body: { code: "conflict", field: "body.invocation_id" } });
  const stranger = await server.addProject("stranger");
  expect(await create(await addInvocation(), stranger.key)).toMatchObject({ status: 404, body: { code: "not_found" } });
  expect(await create("missing")).toMatchObject({ status: 404, body: { field: "body.invocation_id" } });
});

it("accepts an empty invocation_id as none", async () => {
  expect(await created("")).toMatch(/./);
});
