import { createId } from "@shoal/primitives";
import { Webhook, WebhookDelivery } from "@shoal/schemas";
import type { Database } from "@shoal/database";
import { sql } from "kysely";
import { once } from "node:events";
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import type { RunningServer } from "../main/running-server.ts";
import { emitEvent } from "../storage/events/emit-event.ts";
import { sharedSecret, startSecondServer } from "../testing/second-server.ts";
import { type ServerProcesses, startServerProcesses } from "../testing/server-processes.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../testing/webhook-receiver.ts";
const settings = { secret_key: sharedSecret, allow_private_hosts: ["127.0.0.1"] };

let first: TestServer | undefined;
let second: RunningServer | undefined;
let processes: ServerProcesses | undefined;
let receivers: WebhookReceiver[] = [];
beforeEach(() => {
  receivers = [];
});
afterEach(async () => {
  for (const receiver of receivers) await receiver.close();
});
afterAll(async () => {
  await second?.close();
  await first?.close();
  await processes?.close();
});

async function receive(): Promise<WebhookReceiver> {
  const receiver = await startWebhookReceiver();
  receivers.push(receiver);
  return receiver;
}
const idsAt = ({ received }: WebhookReceiver) => received.map(({ headers }) => String(headers["webhook-id"]));
const emit = ({ query }: Pick<Database, "query">, projectId: string) =>
  emitEvent(query, projectId, {
    type: "auth.signed_in",
    data: { connection_id: "c", domain: "a.example", profile_name: null, flow_id: "f" },
  });
async function createAt(baseUrl: string, key: string, url: string): Promise<Webhook> {
  const response = await fetch(`${baseUrl}/webhooks`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ url }),
  });
  expect(response.status).toBe(201);
  return Webhook.parse(await response.json());
}

it("are sent once by two servers, and a silent receiver delays no other", async () => {
  first = await startTestServer(settings);
  second = await startSecondServer(first, settings);
  const project = await first.addProject(createId());
  const [quick, silent] = [await receive(), await receive()];
  silent.respond = () => undefined;
  await createAt(first.baseUrl, project.key, quick.url);
  const { id: silentId } = await createAt(second.baseUrl, project.key, silent.url);
  const count = 1000;
  const beganMs = performance.now();
  for (let sent = 0; sent < count; sent++) await emit(first.database, project.id);
  await expect.poll(() => new Set(idsAt(quick)).size).toBe(count);
  expect(quick.received).toHaveLength(count);
  // Four of each server at a time, each for the 15 seconds until it is given up.
  const turns = Math.ceil((performance.now() - beganMs) / 15_000) + 1;
  expect(new Set(idsAt(silent)).size).toBeLessThanOrEqual(8 * turns);
  const errors = async () =>
    (
      (await first?.request("GET", `/webhooks/${silentId}/deliveries?limit=100&offset=900`, { key: project.key }))
        ?.body as WebhookDelivery[]
    ).map(({ error }) => error);
  await expect.poll(errors).toContain("The receiver did not answer within 15 seconds.");
});

it("are sent by another server after their server was killed", async () => {
  const started = await startServerProcesses();
  processes = started;
  // It may not reach private hosts.
  const ended = once(started.one.child, "exit");
  started.one.child.kill("SIGTERM");
  await ended;
  const own = { SHOAL_ALLOW_PRIVATE_HOSTS: "127.0.0.1" };
  const two = await processes.start("two", own);
  const receiver = await receive();
  receiver.respond = () => undefined;
  await createAt(two.baseUrl, processes.key, receiver.url);
  const { id } = await processes.database.query.selectFrom("projects").select("id").executeTakeFirstOrThrow();
  await emit(processes.database, id);
  await expect.poll(() => receiver.received.length).toBe(1);
  const killed = once(two.child, "exit");
  two.child.kill("SIGKILL");
  await killed;
  receiver.respond = (response) => response.writeHead(204).end();
  // Lets the 30 seconds of the killed server's claim pass.
  const { query } = processes.database;
  const shifted = await query
    .updateTable("webhook_deliveries")
    .set({ lease_until: sql`lease_until - interval '30 seconds'` })
    .where("lease_until", ">", sql<string>`clock_timestamp()`)
    .where("lease_until", "<=", sql<string>`clock_timestamp() + interval '30 seconds'`)
    .executeTakeFirst();
  expect(shifted.numUpdatedRows).toBe(1n);
  await processes.start("three", own);
  await expect.poll(() => receiver.received.length).toBe(2);
  expect(new Set(idsAt(receiver)).size).toBe(1);
  const row = () => query.selectFrom("webhook_deliveries").select(["status", "attempts"]).executeTakeFirst();
  await expect.poll(row).toEqual({ status: "succeeded", attempts: 2 });
});
