import type { Vault, VaultItem, VaultItemEvent } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { tableContents } from "../../testing/table-contents.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

let names = 0;
const unique = (prefix: string) => `${prefix}-${String(names++)}`;

async function ok<Result>(method: string, path: string, body?: unknown, key?: string): Promise<Result> {
  const answer = await server.request(method, path, {
    ...(body !== undefined && { body }),
    ...(key !== undefined && { key }),
  });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body as Result;
}

const fields = [
  { name: "username", type: "email", sensitive: false, value: "ada@shop.example", label: "Your address" },
  { name: "password", type: "password" },
  { name: "note", type: "text", required: false, value: "old" },
  { name: "code", type: "totp", required: false },
];

async function itemWith(spec: object = { provider: "kernel", description: "Shop", fields }, key?: string) {
  const { id } = await ok<Vault>("POST", "/vaults", { name: unique("vault") });
  const path = `/vaults/${id}/items/shop`;
  return { path, item: await ok<VaultItem>("PUT", path, { type: "credential", spec }, key) };
}

const tokenIn = (item: VaultItem) => new URL(item.action?.url ?? "").hash.slice(1);

async function form(token: string, values?: object) {
  const answer = await fetch(`${server.baseUrl}/collect/form`, {
    headers: { authorization: `Bearer ${token}` },
    ...(values && { method: "POST", body: JSON.stringify({ values }) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

it("shows a form for the values that a form can take, without stored secrets, and stores entered values", async () => {
  const { item, path } = await itemWith();
  expect(item.action).toMatchObject({
    name: "collect",
    url: expect.stringContaining(`${server.baseUrl}/collect#`) as string,
  });
  expect(Date.parse(item.action?.expires_at ?? "") - Date.now()).toBeLessThanOrEqual(30 * 60_000);
  const token = tokenIn(item);
  expect(await form(token)).toEqual({
    status: 200,
    body: {
      title: "Shop",
      fields: [
        {
          name: "username",
          type: "email",
          required: true,
          sensitive: false,
          label: "Your address",
          has_value: true,
          value: "ada@shop.example",
        },
        { name: "password", type: "password", required: true, sensitive: true, has_value: false },
        { name: "note", type: "text", required: false, sensitive: true, has_value: true },
      ],
    },
  });
  const [same] = await Promise.all([ok<VaultItem>("GET", path), ok<VaultItem>("GET", path)]);
  expect(same.action).toEqual(item.action);
  const waiting = ok<VaultItem>("GET", `${path}?wait=60`);
  expect(await form(token, { password: "entered-secret", note: null })).toMatchObject({ status: 200 });
  const ready = await waiting;
  expect(ready).toMatchObject({
    version: 2,
    state: { status: "ready", fields: { password: { has_value: true }, note: { has_value: false } } },
  });
  expect(ready.action).toBeUndefined();
  expect(await form(token)).toMatchObject({ status: 401 });
  expect(await form(token, {})).toMatchObject({ status: 401 });
  const events = await ok<VaultItemEvent[]>("GET", `${path}/events`);
  expect(events.map(({ name }) => name)).toEqual(["created", "collection_requested", "collected"]);
  expect(server.log()).not.toContain("entered-secret");
  expect(server.log()).not.toContain(token);
  const contents = await tableContents(server.database);
  for (const form of ["entered-secret", Buffer.from("entered-secret").toString("hex")])
    expect(contents).not.toContain(form);
});

it("takes the longest values of all fields, and answers larger bodies with 413", async () => {
  const names = Array.from({ length: 32 }, (_, index) => `field_${String(index)}`);
  const { item } = await itemWith({ provider: "kernel", fields: names.map((name) => ({ name, type: "text" })) });
  const values = (length: number) => Object.fromEntries(names.map((name) => [name, "x".repeat(length)]));
  expect(await form(tokenIn(item), values(40_000))).toMatchObject({ status: 413, body: { field: "body" } });
  expect(await form(tokenIn(item), values(16_384))).toMatchObject({ status: 200 });
});

it("makes a new link on request when the present one ends soon, and lists no link that does not open", async () => {
  const { id: keyId, key } = await ok<{ id: string; key: string }>("POST", "/org/api_keys", { name: unique("key") });
  const { item, path } = await itemWith(undefined, key);
  const collect = () => ok<VaultItem>("POST", `${path}/operations`, { type: "collect" });
  expect((await collect()).action).toEqual(item.action);
  await server.database.query
    .updateTable("vault_items")
    .set({ collection_expires_at: new Date(Date.now() + 10 * 60_000) })
    .where("id", "=", item.id)
    .execute();
  expect((await ok<VaultItem>("GET", path)).action?.url).toBe(item.action?.url);
  const { action } = await collect();
  expect(action?.url).not.toBe(item.action?.url);
  expect(Date.parse(action?.expires_at ?? "") - Date.now()).toBeGreaterThan(15 * 60_000);
  const listed = async () => (await ok<VaultItem[]>("GET", path.replace(/\/shop$/, "")))[0]?.action;
  expect(await listed()).toEqual(action);
  const other = await itemWith(undefined, key);
  await ok("DELETE", `/org/api_keys/${keyId}`);
  expect(other.item.action).toBeDefined();
  expect((await ok<VaultItem[]>("GET", other.path.replace(/\/shop$/, "")))[0]?.action).toBeUndefined();
});

it.each([
  ["too few values", {}, "body.values"],
  ["a seed", { password: "x", code: "JBSWY3DPEHPK3PXP" }, "body.values.code"],
  ["an unknown field", { password: "x", other: "y" }, "body.values.other"],
  ["a value of another kind", { password: "x", username: "ada" }, "body.values.username"],
  ["a list", { password: ["x"] }, "body"],
])("refuses %s, and changes nothing", async (_, values, field) => {
  const { item, path } = await itemWith();
  expect(await form(tokenIn(item), values)).toMatchObject({ status: 400, body: { field } });
  expect(await ok("GET", path)).toEqual(item);
});

it("opens a form of a ready item on request, and lets it stay as it is", async () => {
  const { item, path } = await itemWith({ provider: "kernel", fields: [{ name: "a", type: "text", value: "x" }] });
  expect([item.state.status, item.action]).toEqual(["ready", undefined]);
  expect(item.available_operations.map(({ type }) => type)).toContain("collect");
  const asked = await ok<VaultItem>("POST", `${path}/operations`, { type: "collect" });
  expect(asked).toMatchObject({ version: 1, action: { name: "collect" } });
  expect((await ok<VaultItem[]>("GET", path.replace(/\/shop$/, "")))[0]?.action).toEqual(asked.action);
  expect(await form(tokenIn(asked), {})).toMatchObject({ status: 200 });
  expect(await ok<VaultItem>("GET", path)).toMatchObject({ version: 2, state: { status: "ready" } });
});

it("ends a link with a change of the item, its key, its time and its project, and renews it on reading", async () => {
  const { id: keyId, key } = await ok<{ id: string; key: string }>("POST", "/org/api_keys", { name: unique("key") });
  const { item, path } = await itemWith(undefined, key);
  await ok("DELETE", `/org/api_keys/${keyId}`);
  expect(await form(tokenIn(item))).toMatchObject({ status: 401 });
  const renewed = await ok<VaultItem>("GET", path);
  expect(renewed.version).toBe(1);
  expect(await form(tokenIn(renewed))).toMatchObject({ status: 200 });
  const forged = tokenIn(renewed).replace(/.$/, (last) => (last === "A" ? "B" : "A"));
  for (const token of ["", "x", forged]) expect(await form(token)).toMatchObject({ status: 401 });
  await server.database.query
    .updateTable("vault_items")
    .set({ collection_expires_at: new Date(Date.now() - 1) })
    .where("id", "=", item.id)
    .execute();
  expect(await form(tokenIn(renewed))).toMatchObject({ status: 401 });
  expect((await ok<VaultItem[]>("GET", path.replace(/\/shop$/, "")))[0]?.action).toBeUndefined();
  const again = await ok<VaultItem>("GET", path);
  const changed = await ok<VaultItem>("PATCH", path, {
    type: "credential",
    version: 1,
    spec: { description: "Store" },
  });
  expect(await form(tokenIn(again))).toMatchObject({ status: 401 });
  expect(await form(tokenIn(changed))).toMatchObject({ status: 200, body: { title: "Store" } });
  await ok("DELETE", path);
  expect(await form(tokenIn(changed))).toMatchObject({ status: 401 });
});

it("shows no link to keys that may not change the item", async () => {
  const { path } = await itemWith();
  const [{ id: project } = { id: "" }] = await ok<{ id: string }[]>("GET", "/org/projects?query=default");
  const statements = ["vaults:read", "vaults:use"].map((action) => ({ action, resource: `projects/${project}/*` }));
  const { key } = await ok<{ key: string }>("POST", "/org/api_keys", { name: unique("key"), policy: { statements } });
  expect((await ok<VaultItem>("GET", path, undefined, key)).action).toBeUndefined();
  const asked = await server.request("POST", `${path}/operations`, { key, body: { type: "collect" } });
  expect(asked).toMatchObject({ status: 403, body: { code: "insufficient_scope" } });
});

it("answers 501 with the reason for operations of others", async () => {
  const { path } = await itemWith();
  for (const type of ["authorize", "1pw_fill", "arm_passkey", "webmcp_invoke"])
    expect(await server.request("POST", `${path}/operations`, { body: { type } })).toMatchObject({
      status: 501,
      body: { code: "not_implemented", field: "body.type" },
    });
});

it("is one document with a strict policy", async () => {
  const page = await fetch(`${server.baseUrl}/collect`);
  const html = await page.text();
  expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; /);
  expect(page.headers.get("referrer-policy")).toBe("no-referrer");
  expect(html).not.toMatch(/<(?:script|link|img)[^>]+(?:src|href)="(?!data:)/);
});

it("writes submitted forms to the audit log, without values", async () => {
  const { item, path } = await itemWith();
  const token = tokenIn(item);
  expect((await form(token, { other: "entered-phrase" })).status).toBe(400);
  expect((await form(token, { password: "entered-phrase" })).status).toBe(200);
  const entries = async () => {
    const aDayMs = 24 * 60 * 60 * 1000;
    const [start, end] = [-aDayMs, aDayMs].map((ms) => new Date(Date.now() + ms).toISOString());
    const range = `start=${String(start)}&end=${String(end)}`;
    const all = await ok<{ readonly path: string; readonly status: number }[]>("GET", `/audit-logs?${range}&limit=100`);
    return all.filter((entry) => entry.path === `${path}/form`).toSorted((one, other) => one.status - other.status);
  };
  await expect.poll(async () => (await entries()).length).toBe(2);
  expect(await entries()).toMatchObject([
    { operation: "vaults.items.enter", auth_strategy: "sign_in_page", status: 200 },
    { operation: "vaults.items.enter", auth_strategy: "sign_in_page", status: 400 },
  ]);
  expect(JSON.stringify(await entries())).not.toMatch(/entered-phrase/);
});
