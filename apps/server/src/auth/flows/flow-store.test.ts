import { answerMs, flowMs, type Question } from "@shoal/contract/logins";
import type { Database } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { connectionRow } from "../../testing/connection-row.ts";
import { FlowStore, stateOf } from "./flow-store.ts";
import { openTestDatabase } from "../../testing/test-database.ts";

const folder = mkdtempSync(join(tmpdir(), "shoal-flows-"));
let database: Database;
let store: FlowStore;
beforeAll(async () => {
  ({ database } = await openTestDatabase(folder));
  store = new FlowStore(database);
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

const password: Question = {
  fields: [{ name: "password", kind: "password", label: "Password\0 \ud800", required: true }],
  choices: [],
};

async function addConnection(): Promise<string> {
  const { query } = database;
  const { id: project_id } = await query.selectFrom("projects").select("id").executeTakeFirstOrThrow();
  const [id, profile_id] = [createId(), createId()];
  await query.insertInto("profiles").values({ id: profile_id, project_id, name: profile_id }).execute();
  await query.insertInto("auth_connections").values(connectionRow({ id, project_id, profile_id })).execute();
  return id;
}

const start = async (nowMs: number, serverId = "one") =>
  store.start({ connectionId: await addConnection(), type: "login", serverId }, nowMs);
const answered = { kind: "answered", interactionId: "q-1" } as const;
const row = (id: string) =>
  database.query.selectFrom("auth_flows").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

it("accepts one of many answers that arrive at once, and hands it over once", async () => {
  const nowMs = Date.now();
  const { id } = await start(nowMs);
  expect(await store.change(id, { kind: "needs", question: password, interactionId: "q-1" }, nowMs)).toBe(true);
  const accepted = await Promise.all(
    Array.from({ length: 8 }, (_, index) => store.change(id, answered, nowMs, Buffer.from(`answer ${String(index)}`))),
  );
  expect(accepted.filter((one) => one === true)).toHaveLength(1);
  const taken = await Promise.all([store.takeAnswer(id), store.takeAnswer(id), store.takeAnswer(id)]);
  expect(taken.filter((one) => one !== undefined).map(String)).toEqual([`answer ${String(accepted.indexOf(true))}`]);
});

it("stores texts of sites that PostgreSQL would refuse", async () => {
  const nowMs = Date.now();
  const { id } = await start(nowMs);
  const needs = { kind: "needs", question: password, interactionId: "q-1" } as const;
  await store.change(id, needs, nowMs);
  expect(stateOf(await row(id))).toMatchObject({
    question: { fields: [{ label: "Password\ufffd \ufffd" }] },
    askedAtMs: nowMs,
  });
  expect(await store.change(id, { ...needs, interactionId: "q-2" }, nowMs + 1)).toBe(false);
});

it("drops a late answer and its values", async () => {
  const nowMs = Date.now();
  const { id } = await start(nowMs);
  await store.change(id, { kind: "needs", question: password, interactionId: "q-1" }, nowMs);
  expect(await store.change(id, answered, nowMs + answerMs, Buffer.from("late"))).toBe(false);
  expect(await row(id)).toMatchObject({ status: "FAILED", error_code: "awaiting_input_timeout", answer: null });
});

it("signs the connection in when it succeeds", async () => {
  const nowMs = Date.now();
  const { connection_id, id } = await start(nowMs);
  expect(await store.change(id, { kind: "signed_in", url: "https://example.com/home" }, nowMs)).toBe(true);
  expect(
    await database.query
      .selectFrom("auth_connections")
      .selectAll()
      .where("id", "=", connection_id)
      .executeTakeFirstOrThrow(),
  ).toMatchObject({ status: "AUTHENTICATED", flow_id: id, post_login_url: "https://example.com/home" });
});

it("runs one login of a connection at a time, and another one after the first has expired", async () => {
  const nowMs = Date.now();
  const { connection_id: connectionId, id } = await start(nowMs);
  const again = (ms: number) => store.start({ connectionId, type: "login", serverId: "one" }, ms);
  await expect(again(nowMs + flowMs - 1)).rejects.toMatchObject({ status: 409, code: "conflict" });
  const outcomes = await Promise.allSettled([again(nowMs + flowMs), again(nowMs + flowMs)]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(await row(id)).toMatchObject({ status: "EXPIRED", step: "COMPLETED" });
});

it("fails the logins of a server that has stopped, and no others", async () => {
  const nowMs = Date.now();
  const [lost, other] = [await start(nowMs, "lost"), await start(nowMs, "other")];
  expect(await store.endLost("lost")).toBe(1);
  expect(await row(lost.id)).toMatchObject({ status: "FAILED", error_code: "internal_error" });
  expect(await row(other.id)).toMatchObject({ status: "IN_PROGRESS" });
});
