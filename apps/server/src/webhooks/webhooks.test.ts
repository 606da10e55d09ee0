import { Webhook, WebhookDelivery, WebhookEvent } from "@shoal/schemas";
import { createId } from "@shoal/primitives";
import { createHmac } from "node:crypto";
import { Webhook as Verifier } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { emitEvent } from "../storage/events/emit-event.ts";
import { deploymentRow } from "../testing/deployment-row.ts";
import { invocationRow } from "../testing/invocation-row.ts";
import { sessionRow } from "../testing/session-row.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";
import { type ReceivedEvent, startWebhookReceiver, type WebhookReceiver } from "../testing/webhook-receiver.ts";

let server: TestServer;
let receiver: WebhookReceiver;
let project: { id: string; key: string };
beforeAll(async () => {
  server = await startTestServer({ allow_private_hosts: ["127.0.0.1"] });
});
afterAll(() => server.close());
beforeEach(async () => {
  receiver = await startWebhookReceiver();
  project = await server.addProject(createId());
});
afterEach(() => receiver.close());

const call = (method: string, path: string, body?: unknown) =>
  server.request(method, path, { key: project.key, ...(body !== undefined && { body }) });
async function create(more: object = {}): Promise<Webhook> {
  const answer = await call("POST", "/webhooks", { url: receiver.url, ...more });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return Webhook.parse(answer.body);
}
const get = async (id: string) => Webhook.parse((await call("GET", `/webhooks/${id}`)).body);
async function deliveries(id: string, query = ""): Promise<WebhookDelivery[]> {
  const { body } = await call("GET", `/webhooks/${id}/deliveries?limit=100${query}`);
  return (body as unknown[]).map((one) => WebhookDelivery.parse(one));
}
const emit = () =>
  emitEvent(server.database.query, project.id, {
    type: "auth.signed_in",
    data: { connection_id: "c", domain: "example.com", profile_name: "shop", flow_id: "f" },
  });
/** Makes a waiting retry due. */
const skipDelay = (webhookId: string) =>
  server.database.query
    .updateTable("webhook_deliveries")
    .set({ next_attempt_at: new Date(0) })
    .where("webhook_id", "=", webhookId)
    .where("status", "=", "pending")
    .execute();
async function verified(count = 1): Promise<ReceivedEvent[]> {
  await expect.poll(() => receiver.received.length).toBeGreaterThanOrEqual(count);
  return receiver.received;
}
const eventOf = (received: ReceivedEvent | undefined): WebhookEvent =>
  WebhookEvent.parse(JSON.parse(received?.body ?? ""));
const signaturesOf = (received: ReceivedEvent | undefined) => String(received?.headers["webhook-signature"]).split(" ");

describe("webhooks", () => {
  it("sign their events by the rules of Standard Webhooks", async () => {
    const { id, secret = "" } = await create();
    await emit();
    const [received] = await verified();
    expect(new Verifier(secret).verify(received?.body ?? "", received?.headers as Record<string, string>)).toEqual(
      eventOf(received),
    );
    const [delivery] = await deliveries(id);
    const headers = received?.headers ?? {};
    const signed = `${String(headers["webhook-id"])}.${String(headers["webhook-timestamp"])}.${received?.body ?? ""}`;
    const key = Buffer.from(secret.slice("whsec_".length), "base64");
    expect(signaturesOf(received)).toEqual([`v1,${createHmac("sha256", key).update(signed).digest("base64")}`]);
    expect(headers).toMatchObject({ "content-type": "application/json", "webhook-id": delivery?.event_id });
    expect(eventOf(received)).toMatchObject({ type: "auth.signed_in", data: { domain: "example.com" } });
    await expect
      .poll(async () => (await deliveries(id))[0])
      .toMatchObject({ status: "succeeded", attempts: 1, response_status: 204, payload: received?.body });
  });

  it("send the ends of sessions, invocations and deployments with the types of the schemas", async () => {
    await create();
    const [session, invocation, deployment] = [createId(), createId(), createId()];
    const { query } = server.database;
    await query
      .insertInto("sessions")
      .values(sessionRow({ id: session, project_id: project.id, name: "n" }))
      .execute();
    await query
      .insertInto("invocations")
      .values(invocationRow({ id: invocation, project_id: project.id }))
      .execute();
    await query
      .insertInto("deployments")
      .values(deploymentRow({ id: deployment, project_id: project.id }))
      .execute();
    const now = new Date();
    await query
      .updateTable("sessions")
      .set({ ended_at: now, ended_reason: "timeout" })
      .where("id", "=", session)
      .execute();
    await query
      .updateTable("invocations")
      .set({ status: "failed", finished_at: now, status_reason: "no" })
      .where("id", "=", invocation)
      .execute();
    await query.updateTable("deployments").set({ status: "failed" }).where("id", "=", deployment).execute();
    await verified(3);
    const events = receiver.received.map(eventOf).sort((a, b) => a.type.localeCompare(b.type));
    expect(events).toMatchObject([
      {
        type: "browser.ended",
        data: { session_id: session, name: "n", ended_reason: "timeout", ended_at: now.toISOString() },
      },
      { type: "deployment.failed", data: { deployment_id: deployment, apps: [] } },
      { type: "invocation.failed", data: { invocation_id: invocation, status_reason: "no" } },
    ]);
  });

  it("receive only the selected types, of one project, while they are enabled", async () => {
    const selective = await create({ event_types: ["auth.signed_out"] });
    const disabled = await create();
    await call("PATCH", `/webhooks/${disabled.id}`, { enabled: false });
    const own = project;
    project = await server.addProject(createId());
    const other = await create();
    project = own;
    await emit();
    const all = await create();
    await emit();
    await verified();
    expect((await deliveries(selective.id)).length + (await deliveries(disabled.id)).length).toBe(0);
    expect(await deliveries(all.id)).toHaveLength(1);
    project = { ...project, key: server.key };
    expect((await call("GET", `/webhooks/${other.id}/deliveries`)).status).toBe(404);
  });

  it("repeat failed deliveries with the same webhook-id, not before retry-after", async () => {
    const { id } = await create();
    receiver.respond = (response) => response.writeHead(503, { "retry-after": "600" }).end("secret of the receiver");
    await emit();
    const [first] = await verified();
    await expect.poll(async () => (await deliveries(id))[0]?.response_status).toBe(503);
    const [waiting] = await deliveries(id);
    expect(waiting).toMatchObject({ status: "pending", attempts: 1, error: "The receiver answered 503." });
    expect(Date.parse(waiting?.next_attempt_at ?? "") - Date.parse(waiting?.last_attempt_at ?? "")).toBeGreaterThan(
      590_000,
    );
    expect((await get(id)).failing_since).toBeDefined();
    expect(JSON.stringify(waiting) + server.log()).not.toContain("secret of the receiver");
    receiver.respond = (response) => response.writeHead(200).end();
    await skipDelay(id);
    const [, second] = await verified(2);
    expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
    expect(second?.body).toBe(first?.body);
    await expect.poll(async () => (await deliveries(id))[0]).toMatchObject({ status: "succeeded", attempts: 2 });
    expect(await get(id)).not.toHaveProperty("failing_since");
  });

  it("are disabled by the answer 410, and after days of failures", async () => {
    const { id } = await create();
    receiver.respond = (response) => response.writeHead(410).end();
    await emit();
    await expect.poll(async () => (await get(id)).enabled).toBe(false);
    expect((await get(id)).disabled_reason).toContain("410");
    expect(await deliveries(id)).toMatchObject([{ status: "failed", attempts: 1 }]);

    expect((await call("PATCH", `/webhooks/${id}`, { enabled: true })).body).not.toHaveProperty("disabled_reason");
    receiver.respond = (response) => response.writeHead(500).end();
    await server.database.query
      .updateTable("webhooks")
      .set({ failing_since: new Date(Date.now() - 6 * 24 * 3600 * 1000) })
      .where("id", "=", id)
      .execute();
    await emit();
    await expect.poll(async () => (await get(id)).disabled_reason).toContain("No delivery has succeeded for 5 days");
    const [waiting] = await deliveries(id);
    expect(waiting).toMatchObject({ status: "pending", attempts: 1 });
    expect((await call("POST", `/webhooks/${id}/deliveries/${waiting?.id ?? ""}/redeliver`)).status).toBe(409);
    receiver.respond = (response) => response.writeHead(200).end();
    await skipDelay(id);
    await call("PATCH", `/webhooks/${id}`, { enabled: true });
    await expect.poll(async () => (await deliveries(id))[0]).toMatchObject({ status: "succeeded", attempts: 2 });
  });

  it("follow no redirect", async () => {
    const { id } = await create();
    const elsewhere = await startWebhookReceiver();
    onTestFinished(() => elsewhere.close());
    receiver.respond = (response) => response.writeHead(307, { location: elsewhere.url }).end();
    await emit();
    await expect.poll(async () => (await deliveries(id))[0]?.error).toContain(`redirected to http://127.0.0.1`);
    expect(elsewhere.received).toEqual([]);
  });

  it("can be tested, also while they are disabled, and tests are not repeated", async () => {
    const { id, secret = "" } = await create();
    await call("PATCH", `/webhooks/${id}`, { enabled: false });
    const tested = await call("POST", `/webhooks/${id}/test`);
    expect(tested).toMatchObject({
      status: 200,
      body: { status: "succeeded", event_type: "webhook.test", attempts: 1 },
    });
    const [received] = receiver.received;
    expect(
      new Verifier(secret).verify(received?.body ?? "", received?.headers as Record<string, string>),
    ).toMatchObject({
      type: "webhook.test",
      data: { webhook_id: id },
    });
    receiver.respond = (response) => response.writeHead(500).end();
    expect((await call("POST", `/webhooks/${id}/test`)).body).toMatchObject({ status: "failed", response_status: 500 });
    // No program listens there. Another one could get the port of a closed receiver.
    await call("PATCH", `/webhooks/${id}`, { url: "http://127.0.0.1:1/hooks" });
    expect((await call("POST", `/webhooks/${id}/test`)).body).toMatchObject({
      status: "failed",
      error: "The receiver cannot be reached (ECONNREFUSED).",
    });
  });

  it("are tested once for each Idempotency-Key", async () => {
    const { id } = await create();
    const test = (key: string) =>
      server.request("POST", `/webhooks/${id}/test`, { key: project.key, headers: { "idempotency-key": key } });
    const first = await test("one");
    expect(await test("one")).toMatchObject({ status: 200, body: first.body });
    expect(receiver.received).toHaveLength(1);
    expect((await test("two")).body).not.toEqual(first.body);
    expect(receiver.received).toHaveLength(2);
  });

  it("send an event again, with the same webhook-id", async () => {
    const { id } = await create();
    await emit();
    await expect.poll(async () => (await deliveries(id))[0]?.status).toBe("succeeded");
    const [delivery] = await deliveries(id);
    const again = await call("POST", `/webhooks/${id}/deliveries/${delivery?.id ?? ""}/redeliver`);
    expect(again).toMatchObject({ status: 202, body: { id: delivery?.id, status: "pending" } });
    const [first, second] = await verified(2);
    expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
    await expect.poll(async () => (await deliveries(id))[0]).toMatchObject({ status: "succeeded", attempts: 2 });
    const other = await create();
    expect((await call("POST", `/webhooks/${other.id}/deliveries/${delivery?.id ?? ""}/redeliver`)).status).toBe(404);
  });

  it("are tested once, also when the caller leaves", async () => {
    const { id } = await create();
    const leave = new AbortController();
    receiver.respond = () => {
      leave.abort();
    };
    const test = server.request("POST", `/webhooks/${id}/test`, { key: project.key, signal: leave.signal });
    await expect(test).rejects.toThrow();
    await expect.poll(() => deliveries(id)).toMatchObject([{ status: "failed", attempts: 1 }]);
    expect((await deliveries(id))[0]).not.toHaveProperty("next_attempt_at");
    expect(await get(id)).not.toHaveProperty("failing_since");
  });

  it("are not disabled by an answer of their earlier address", async () => {
    const { id } = await create();
    const held = Promise.withResolvers<() => void>();
    receiver.respond = (response) => {
      held.resolve(() => response.writeHead(410).end());
    };
    await emit();
    const answer = await held.promise;
    const other = await startWebhookReceiver();
    onTestFinished(() => other.close());
    await call("PATCH", `/webhooks/${id}`, { url: other.url });
    answer();
    await expect.poll(async () => (await deliveries(id))[0]?.status).toBe("failed");
    expect(await get(id)).toMatchObject({ enabled: true, url: other.url });
    expect(await get(id)).not.toHaveProperty("failing_since");
  });

  it("send an event again although its last attempt runs", async () => {
    const { id } = await create();
    receiver.respond = (response) => response.writeHead(500).end();
    await emit();
    await expect.poll(async () => (await deliveries(id))[0]?.response_status).toBe(500);
    const held = Promise.withResolvers<() => void>();
    receiver.respond = (response) => {
      held.resolve(() => response.writeHead(500).end());
    };
    // Beyond the last retry.
    await server.database.query
      .updateTable("webhook_deliveries")
      .set({ retries: 100, next_attempt_at: new Date(0) })
      .where("webhook_id", "=", id)
      .execute();
    const answer = await held.promise;
    const [delivery] = await deliveries(id);
    expect((await call("POST", `/webhooks/${id}/deliveries/${delivery?.id ?? ""}/redeliver`)).status).toBe(202);
    receiver.respond = (response) => response.writeHead(200).end();
    answer();
    await expect.poll(async () => (await deliveries(id))[0]).toMatchObject({ status: "succeeded", attempts: 3 });
  });

  it("have signatures of both secrets during a rotation", async () => {
    const { id, secret: before = "" } = await create();
    await emit();
    await verified();
    const rotated = Webhook.parse((await call("POST", `/webhooks/${id}/rotate_secret`)).body);
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(Date.parse(rotated.previous_secret_expires_at ?? "")).toBeGreaterThan(Date.now() + 80_000_000);
    await emit();
    const [, during] = await verified(2);
    for (const secret of [before, rotated.secret ?? ""])
      expect(() =>
        new Verifier(secret).verify(during?.body ?? "", during?.headers as Record<string, string>),
      ).not.toThrow();
    expect(signaturesOf(during)).toHaveLength(2);
    const given = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
    await call("POST", `/webhooks/${id}/rotate_secret`, { secret: given, grace_seconds: 0 });
    await emit();
    const [, , after] = await verified(3);
    expect(signaturesOf(after)).toHaveLength(1);
    expect(new Verifier(given).verify(after?.body ?? "", after?.headers as Record<string, string>)).toBeDefined();
  });

  it("require an address that may be reached", async () => {
    for (const [url, problem] of [
      ["https://10.1.2.3/", "expected a public address"],
      ["http://[::1]:1/", "expected a public address"],
      ["https://user:s3cret@a.example/", "must not contain a user name"],
      ["http://93.184.216.34/", "http is for private hosts only"],
      ["ftp://a.example", "expected an https or http address"],
    ] as const) {
      const answer = await call("POST", "/webhooks", { url });
      expect(answer, url).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining(problem) as unknown },
      });
      expect(JSON.stringify(answer.body)).not.toContain("s3cret");
    }
    const { id } = await create();
    expect((await call("PATCH", `/webhooks/${id}`, { url: "http://10.0.0.1" })).status).toBe(400);
  });

  it("are limited in number and in waiting deliveries", async () => {
    for (let count = 0; count < 50; count++) await create({ event_types: ["browser.ended"] });
    expect(await call("POST", "/webhooks", { url: receiver.url })).toMatchObject({
      status: 409,
      body: { code: "conflict", message: expect.stringContaining("50 webhooks") as unknown },
    });
  });

  it("reveal secrets in no answer, log or row", async () => {
    const { id, secret = "" } = await create();
    const rotated = Webhook.parse((await call("POST", `/webhooks/${id}/rotate_secret`)).body).secret ?? "";
    await call("POST", `/webhooks/${id}/test`);
    const texts = [
      JSON.stringify([(await call("GET", `/webhooks/${id}`)).body, (await call("GET", "/webhooks")).body]),
      JSON.stringify(await deliveries(id)),
      server.log(),
      JSON.stringify(await server.database.query.selectFrom("webhooks").selectAll().execute()),
    ];
    for (const hidden of [secret, rotated])
      for (const text of texts) expect(text).not.toContain(hidden.slice("whsec_".length));
  });
});
