import type { Question } from "@shoal/contract/logins";
import { createId } from "@shoal/primitives";
import { Browser, BrowserPool, WebhookEvent } from "@shoal/schemas";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { FlowStore } from "../auth/flows/flow-store.ts";
import { connectionRow } from "../testing/connection-row.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../testing/webhook-receiver.ts";

let server: TestServer;
let site: Server;
let receiver: WebhookReceiver;
let project: { id: string; key: string };
beforeAll(async () => {
  site = createServer((_request, response) => {
    response.writeHead(200, { "content-disposition": "attachment; filename=report.txt" }).end("content");
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  server = await startTestServer({ allow_private_hosts: ["127.0.0.1"] });
});
afterAll(async () => {
  await server.close();
  site.close();
  site.closeAllConnections();
});
beforeEach(async () => {
  receiver = await startWebhookReceiver();
  project = await server.addProject(createId());
  await call("POST", "/webhooks", { url: receiver.url });
});
afterEach(() => receiver.close());

const call = async (method: string, path: string, body?: unknown) => {
  const answer = await server.request(method, path, { key: project.key, ...(body !== undefined && { body }) });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};
const events = () => receiver.received.map(({ body }) => WebhookEvent.parse(JSON.parse(body)));
const types = () => events().map(({ type }) => type);
async function received(type: WebhookEvent["type"]): Promise<WebhookEvent> {
  await expect.poll(types).toContain(type);
  const found = events().find((event) => event.type === type);
  if (found === undefined) throw new Error(`${type} is missing.`);
  return found;
}

it("report that a login needs a person, that it succeeded, and that the connection is signed out", async () => {
  const { query } = server.database;
  const [id, profile_id] = [createId(), createId()];
  await query.insertInto("profiles").values({ id: profile_id, project_id: project.id, name: "shop" }).execute();
  await query
    .insertInto("auth_connections")
    .values(connectionRow({ id, project_id: project.id, profile_id, domain: "shop.example" }))
    .execute();
  const flows = new FlowStore(server.database);
  const flow = await flows.start({ connectionId: id, type: "login", serverId: "elsewhere" }, Date.now());
  const question: Question = {
    fields: [{ name: "otp", kind: "otp", label: "Code\0", required: true }],
    choices: [],
  };
  const needs = { kind: "needs", question, interactionId: "q-1" } as const;
  await flows.change(flow.id, needs, Date.now());
  await flows.change(flow.id, needs, Date.now());
  await flows.change(flow.id, { kind: "answered", interactionId: "q-1" }, Date.now(), Buffer.from("123456"));
  await flows.change(flow.id, { kind: "signed_in", url: "https://shop.example/home" }, Date.now());
  await query.updateTable("auth_connections").set({ status: "NEEDS_AUTH" }).where("id", "=", id).execute();
  await received("auth.signed_out");
  await received("auth.signed_in");
  const about = { connection_id: id, domain: "shop.example", profile_name: "shop" };
  expect(await received("auth.needs_human")).toMatchObject({
    data: { ...about, flow_id: flow.id, needs: "input", fields: [{ type: "otp", label: "Code\uFFFD" }] },
  });
  expect(types().sort()).toEqual(["auth.needs_human", "auth.signed_in", "auth.signed_out"]);
  expect(JSON.stringify(receiver.received)).not.toContain("123456");
});

it("report a finished download and the end of the browser", async () => {
  const browser = Browser.parse(await call("POST", "/browsers", { name: "loader" }));
  const socket = new WebSocket(browser.cdp_ws_url);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  const url = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}/?token=s3cret`;
  socket.send(JSON.stringify({ id: 1, method: "Target.createTarget", params: { url } }));
  expect(await received("download.finished")).toMatchObject({
    data: {
      session_id: browser.session_id,
      session_name: "loader",
      state: "completed",
      file_name: "report.txt",
      path: "/home/shoal/Downloads/report.txt",
      size_bytes: 7,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      host: new URL(url).host,
    },
  });
  socket.close();
  await call("DELETE", `/browsers/${browser.session_id}`);
  expect(await received("browser.ended")).toMatchObject({
    data: { session_id: browser.session_id, name: "loader", ended_reason: "deleted" },
  });
  expect(JSON.stringify(receiver.received)).not.toContain("s3cret");
});

it("report a pool that is full, then empty, and no browsers that clients never saw", async () => {
  const pool = BrowserPool.parse(await call("POST", "/browser_pools", { name: "workers", size: 1 }));
  expect(await received("browser_pool.filled")).toMatchObject({
    data: { pool_id: pool.id, name: "workers", size: 1, available: 1, acquired: 0 },
  });
  await call("POST", `/browser_pools/${pool.id}/acquire`, {});
  expect(await received("browser_pool.empty")).toMatchObject({ data: { available: 0, acquired: 1 } });
  await call("DELETE", `/browser_pools/${pool.id}`, { force: true });
  await received("browser.ended");
  expect(types().filter((type) => type === "browser.ended")).toHaveLength(1);
});
