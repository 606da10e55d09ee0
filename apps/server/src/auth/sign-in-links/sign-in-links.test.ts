import { CreatedApiKey } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createSecrets } from "../../storage/secrets.ts";
import { addLogin } from "../../testing/add-login.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { type HandedFlow, LinkCodes } from "./link-codes.ts";

const secret_key = "the secret of the server under test";
const codes = new LinkCodes(createSecrets(secret_key));
let server: TestServer;
let keyId: string;
beforeAll(async () => {
  server = await startTestServer({ secret_key, rate_limit_per_address: 60 });
  ({ id: keyId } = await server.database.query.selectFrom("api_keys").select("id").executeTakeFirstOrThrow());
});
afterAll(() => server.close());

const codeOf = (flow: HandedFlow, id = keyId) => codes.codeOf(flow, { key: { id } });
const exchange = (id: string, code: string) =>
  server.request("POST", `/auth/connections/${id}/exchange`, { key: null, body: { code } });
async function tokenOf(flow: HandedFlow, id = keyId): Promise<string> {
  const { body, status } = await exchange(flow.connection_id, codeOf(flow, id));
  expect([status, body]).toEqual([200, { invocation_id: flow.id, jwt: expect.any(String) as unknown }]);
  return (body as { jwt: string }).jwt;
}
const get = (id: string, key: string) => server.request("GET", `/auth/connections/${id}`, { key });
const change = (flow: HandedFlow, columns: Parameters<typeof addLogin>[1]) => {
  const { domain: _domain, ...set } = columns ?? {};
  return server.database.query.updateTable("auth_flows").set(set).where("id", "=", flow.id).execute();
};
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);

it("issues one token for a code that is exchanged several times within seconds, and none afterwards", async () => {
  const flow = await addLogin(server.database);
  const answers = await Promise.all([1, 2, 3].map(() => exchange(flow.connection_id, codeOf(flow))));
  expect(new Set(answers.map(({ body, status }) => JSON.stringify([status, body])))).toHaveLength(1);
  expect(answers[0]?.status).toBe(200);
  await change(flow, { handed_off_at: minutesAgo(0.2) });
  expect(await exchange(flow.connection_id, codeOf(flow))).toMatchObject({
    status: 410,
    body: {
      code: "link_expired",
      message: expect.stringMatching(/used already\. Ask for a new link/) as unknown,
      details: [{ code: "used" }],
    },
  });
  const token = await tokenOf({ ...flow, handoffs: 1 });
  expect((await get(flow.connection_id, token)).status).toBe(200);
});

it("refuses codes of logins that have ended, and of deleted keys, with the reason", async () => {
  const [failed, usedAndFailed, canceled, late, expired, done, byKey] = await Promise.all(
    [1, 2, 3, 4, 5, 6, 7].map(() => addLogin(server.database)),
  );
  if (!failed || !usedAndFailed || !canceled || !late || !expired || !done || !byKey) throw new Error();
  await change(failed, { status: "FAILED", step: "COMPLETED" });
  await change(usedAndFailed, { status: "FAILED", step: "COMPLETED", handoffs: 1, handed_off_at: minutesAgo(0) });
  await change(canceled, { status: "CANCELED", step: "COMPLETED" });
  await change(late, { expires_at: minutesAgo(1) });
  await change(expired, { status: "EXPIRED", step: "COMPLETED" });
  await change(done, { status: "SUCCESS", step: "COMPLETED", handoffs: 1, handed_off_at: minutesAgo(1) });
  const { body } = await server.request("POST", "/org/api_keys", { body: { name: "short", days_to_expire: 1 } });
  const key = CreatedApiKey.parse(body);
  expect((await server.request("DELETE", `/org/api_keys/${key.id}`)).status).toBe(204);
  for (const [flow, id, reason] of [
    [failed, keyId, "ended"],
    [usedAndFailed, keyId, "ended"],
    [canceled, keyId, "ended"],
    [late, keyId, "expired"],
    [expired, keyId, "expired"],
    [done, keyId, "used"],
    [byKey, key.id, "ended"],
  ] as const)
    expect(await exchange(flow.connection_id, codeOf(flow, id))).toMatchObject({
      status: 410,
      body: { code: "link_expired", details: [{ code: reason }] },
    });
});

it("opens the connection of its login only, and shows what the person needs", async () => {
  const flow = await addLogin(server.database, { session_id: "s1" });
  const other = await addLogin(server.database);
  const id = flow.connection_id;
  await server.request("PATCH", `/auth/connections/${id}`, { body: { login_url: "https://example.com/login?secret" } });
  const token = await tokenOf(flow);
  const { body, status } = await get(id, token);
  expect(status).toBe(200);
  expect(body).toMatchObject({ id, domain: "example.com", status: "NEEDS_AUTH" });
  for (const hidden of [
    "allowed_domains",
    "browser",
    "browser_session_id",
    "hosted_url",
    "live_view_url",
    "login_url",
    "proxy_id",
  ])
    expect(body).not.toHaveProperty(hidden);
  expect((await get(other.connection_id, token)).status).toBe(401);
  for (const [method, path] of [
    ["GET", "/auth/connections"],
    ["PATCH", `/auth/connections/${id}`],
    ["DELETE", `/auth/connections/${id}`],
    ["POST", `/auth/connections/${id}/login`],
    ["GET", `/auth/connections/${id}/timeline`],
    ["GET", "/browsers"],
    ["GET", "/org/api_keys"],
  ] as const)
    expect([
      path,
      (await server.request(method, path, { key: token, body: method === "GET" ? undefined : {} })).status,
    ]).toEqual([path, 401]);
});

it("ends with the connection, the next login, its key, and minutes after its login", async () => {
  const logins = [1, 2, 3, 4].map(() => addLogin(server.database));
  const [deleted, followed, ended, keyless] = await Promise.all(logins);
  if (deleted === undefined || followed === undefined || ended === undefined || keyless === undefined)
    throw new Error();
  const created = await server.request("POST", "/org/api_keys", { body: { name: "issuer", days_to_expire: 1 } });
  const key = CreatedApiKey.parse(created.body);
  const opened = [
    [deleted, await tokenOf(deleted)],
    [followed, await tokenOf(followed)],
    [ended, await tokenOf(ended)],
    [keyless, await tokenOf(keyless, key.id)],
  ] as const;
  await change(ended, { status: "SUCCESS", step: "COMPLETED", updated_at: minutesAgo(4) });
  for (const [flow, token] of opened) expect((await get(flow.connection_id, token)).status).toBe(200);
  await server.request("DELETE", `/auth/connections/${deleted.connection_id}`);
  await server.request("DELETE", `/org/api_keys/${key.id}`);
  await server.database.query
    .updateTable("auth_connections")
    .set({ flow_id: "another" })
    .where("id", "=", followed.connection_id)
    .execute();
  await change(ended, { updated_at: minutesAgo(6) });
  for (const [flow, token] of opened)
    expect(await get(flow.connection_id, token)).toMatchObject({ status: 401, body: { code: "unauthorized" } });
});

it("refuses forged codes and tokens alike for connections that exist and that do not", async () => {
  const flow = await addLogin(server.database);
  const code = codeOf(flow);
  const forged = `${code.slice(0, -2)}${code.endsWith("AA") ? "BB" : "AA"}`;
  const foreign = new LinkCodes(createSecrets("another secret of the same length!!")).codeOf(flow, {
    key: { id: keyId },
  });
  const next = code.replace(/\.0\./, ".1.");
  const unknown = await exchange("unknown", forged);
  expect(unknown).toMatchObject({ status: 404, body: { code: "not_found" } });
  for (const text of [forged, foreign, next, "x"])
    expect(await exchange(flow.connection_id, text)).toMatchObject({ status: 404, body: unknown.body });
  expect((await exchange("unknown", code)).body).toEqual(unknown.body);
  const token = await tokenOf(flow);
  const [head, payload, signature] = token.split(".");
  const none = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
  for (const bad of [
    `${none}.${payload ?? ""}.`,
    `${none}.${payload ?? ""}.${signature ?? ""}`,
    `${head ?? ""}.${none}.${signature ?? ""}`,
  ])
    expect((await get(flow.connection_id, bad)).status).toBe(401);
});

it("limits guesses from one address, and writes exchanges to the audit log without the code", async () => {
  const flow = await addLogin(server.database);
  const code = codeOf(flow);
  await tokenOf(flow);
  const statuses = new Set<number>();
  // The limit of a minute refills meanwhile.
  for (let guess = 0; guess < 5_000 && !statuses.has(429); guess += 1)
    statuses.add((await exchange(flow.connection_id, `${code}x`)).status);
  expect(statuses).toEqual(new Set([404, 429]));
  await expect
    .poll(async () =>
      server.database.query
        .selectFrom("audit_logs")
        .selectAll()
        .where("path", "like", `%${flow.connection_id}%`)
        .execute(),
    )
    .toMatchObject([
      { auth_strategy: "sign_in_page", operation: "auth.connections.exchange", user_id: keyId, status: 200 },
    ]);
  expect(server.log()).not.toContain(code.split(".").at(-1));
});
