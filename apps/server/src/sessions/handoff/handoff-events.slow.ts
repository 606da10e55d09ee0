import { Browser, Handoff, WebhookEvent } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../../testing/webhook-receiver.ts";

let server: TestServer;
let receiver: WebhookReceiver;
beforeAll(async () => {
  server = await startTestServer({ allow_private_hosts: ["127.0.0.1"] });
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await receiver.close();
  await server.close();
});

const call = async (method: string, path: string, body?: object) => {
  const answer = await server.request(method, path, body && { body });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};
/** The types and data of the webhooks of one handoff, in order of their creation. */
const eventsOf = (id: string) =>
  receiver.received
    .map(({ body }) => WebhookEvent.parse(JSON.parse(body)))
    .filter(({ data }) => "handoff_id" in data && data.handoff_id === id)
    .toSorted((one, other) => one.timestamp.localeCompare(other.timestamp));
const untilTypes = (id: string, types: readonly string[]) =>
  expect.poll(() => eventsOf(id).map(({ type }) => type)).toEqual(types);

it("report each step of handoffs: requests, persons that take and return control, deadlines and ends of sessions", async () => {
  await call("POST", "/webhooks", { url: receiver.url });
  const { session_id: id } = Browser.parse(await call("POST", "/browsers", { timeout_seconds: 300, name: "shop" }));
  const path = `/browsers/${id}/handoff`;
  const request = async (body: object) => Handoff.parse(await call("POST", path, { message: "Sign in", ...body }));

  const first = await request({ label: "Ana" });
  const ofPerson = (action: string, body = "") =>
    fetch(`${first.url ?? ""}/handoff/${action}`, { method: "POST", body });
  expect((await ofPerson("take")).status).toBe(200);
  expect((await ofPerson("release", "the code is 4711")).status).toBe(200);
  await untilTypes(first.id, ["handoff.requested", "handoff.taken", "handoff.released"]);
  const common = { handoff_id: first.id, session_id: id, session_name: "shop", message: "Sign in", label: "Ana" };
  expect(eventsOf(first.id).map(({ data }) => data)).toMatchObject([
    { ...common, taken_at: null, ended_at: null, released_by: null, note: null },
    { ...common, taken_at: expect.any(String) as string, ended_at: null },
    { ...common, ended_at: expect.any(String) as string, released_by: "Ana", note: "the code is 4711" },
  ]);

  const second = await request({ timeout_seconds: 10 });
  await untilTypes(second.id, ["handoff.requested", "handoff.expired"]);
  expect(Handoff.parse(await call("GET", path))).toMatchObject({ id: second.id, status: "expired" });

  const third = await request({});
  await call("DELETE", `/browsers/${id}`);
  await untilTypes(third.id, ["handoff.requested", "handoff.canceled"]);

  // The link controls the session, so webhooks do not contain it.
  const sent = receiver.received.map(({ body }) => body).join("\n");
  for (const { url = "" } of [first, second, third]) {
    expect(url).not.toBe("");
    expect(sent).not.toContain(new URL(url).pathname.split("/").at(-1));
  }
  expect(sent).not.toContain("/browser/live/");
});
