import type { AuthConnection, Credential, Vault, VaultEncryptionKey, VaultItem, VaultItemEvent } from "@shoal/schemas";
import { CompactEncrypt } from "jose/jwe/compact/encrypt";
import { importJWK } from "jose/key/import";
import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tableContents } from "../../testing/table-contents.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

let names = 0;
const unique = (prefix: string) => `${prefix}-${String(names++)}`;

async function send(method: string, path: string, body?: unknown, key?: string) {
  return server.request(method, path, {
    ...(body !== undefined && { body }),
    ...(key !== undefined && { key }),
  });
}

async function ok<Result>(method: string, path: string, body?: unknown): Promise<Result> {
  const answer = await send(method, path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body as Result;
}

async function refusal(method: string, path: string, body?: unknown, key?: string) {
  const { body: error, status } = await send(method, path, body, key);
  const { code, field, message } = error as { code?: string; field?: string; message?: string };
  return { is: `${String(status)} ${code ?? ""}`, field, message };
}

const vault = async (): Promise<Vault> => ok("POST", "/vaults", { name: unique("Vault") });
interface Field {
  readonly name: string;
  readonly type: string;
  readonly value?: string;
  readonly [other: string]: unknown;
}
const login: { readonly fields: readonly Field[]; readonly [other: string]: unknown } = {
  provider: "kernel",
  description: "Shop",
  fields: [
    { name: "username", type: "email", sensitive: false, value: "ada@shop.example" },
    { name: "password", type: "password", value: "correct-horse-battery", label: "Your password" },
    { name: "code", type: "totp", required: false, value: "jbswy3dpehpk3pxp==" },
  ],
};
const credential = (spec: object = login) => ({ type: "credential", spec });

it("creates vaults, returns those of the same name, finds and deletes them", async () => {
  const name = unique("Logins.de_1");
  const made = await ok<Vault>("POST", "/vaults", { name });
  expect(made).toEqual({
    id: expect.stringMatching(/^[a-z][a-z0-9]{23}$/) as string,
    name,
    created_at: expect.any(String) as string,
    updated_at: expect.any(String) as string,
  });
  expect(await ok("POST", "/vaults", { name })).toEqual(made);
  expect(await ok("GET", `/vaults/${name}`)).toEqual(made);
  expect(await ok("GET", `/vaults?query=${name.slice(2).toUpperCase()}`)).toEqual([made]);
  expect(await ok("GET", `/vaults?query=${made.id}`)).toEqual([made]);
  expect(await refusal("POST", "/vaults", { name: made.id })).toMatchObject({
    is: "400 bad_request",
    field: "body.name",
  });
  expect(await refusal("POST", "/vaults", { name: "two words" })).toMatchObject({ is: "400 bad_request" });
  await ok("PUT", `/vaults/${name}/items/shop`, credential());
  expect((await send("DELETE", `/vaults/${made.id}`)).status).toBe(204);
  expect(await refusal("GET", `/vaults/${name}`)).toMatchObject({ is: "404 not_found" });
  expect(await refusal("GET", `/vaults/${name}/items`)).toMatchObject({ is: "404 not_found" });
});

describe("items", () => {
  it("show which fields have values, and the values of fields that are not sensitive only", async () => {
    const { id } = await vault();
    const item = await ok<VaultItem>("PUT", `/vaults/${id}/items/shop.1`, credential());
    expect(item).toMatchObject({
      key: "shop.1",
      type: "credential",
      version: 1,
      spec: {
        provider: "kernel",
        description: "Shop",
        fields: [
          { name: "username", type: "email", required: true, sensitive: false },
          { name: "password", type: "password", required: true, sensitive: true, label: "Your password" },
          { name: "code", type: "totp", required: false, sensitive: true },
        ],
      },
      state: {
        provider: "kernel",
        status: "ready",
        fields: {
          username: { has_value: true, value: "ada@shop.example" },
          password: { has_value: true },
          code: { has_value: true },
        },
      },
      available_expansions: [],
    });
    expect(JSON.stringify(item)).not.toMatch(/correct-horse|jbswy3/i);
    expect(await ok("GET", `/vaults/${id}/items/shop.1`)).toEqual(item);
    expect(await ok("GET", `/vaults/${id}/items`)).toEqual([item]);
    expect((await send("DELETE", `/vaults/${id}/items/shop.1`)).status).toBe(204);
    expect(await refusal("GET", `/vaults/${id}/items/shop.1`)).toMatchObject({ is: "404 not_found" });
  });

  it("store their values encrypted only", async () => {
    const { id } = await vault();
    const secret = unique("hidden-value");
    const fields = [
      { name: "pin", type: "password", value: secret },
      { name: "user", type: "text", sensitive: false, value: secret },
    ];
    await ok("PUT", `/vaults/${id}/items/a`, credential({ provider: "kernel", fields }));
    await ok("PATCH", `/vaults/${id}/items/a`, {
      type: "credential",
      version: 1,
      spec: { fields: { pin: { value: `${secret}-2` } } },
    });
    expect(JSON.stringify(await ok("GET", `/vaults/${id}/items/a/events`))).not.toContain(secret);
    const contents = await tableContents(server.database);
    // The test sees bytes in hexadecimal form.
    expect(contents).toContain("\\\\x");
    for (const form of [
      secret,
      Buffer.from(secret).toString("hex"),
      Buffer.from(secret).toString("base64").slice(0, 16),
    ])
      expect(contents).not.toContain(form);
  });

  it("are at most 500 in a vault, also when requests come together", async () => {
    const { id, name } = await vault();
    await ok("PUT", `/vaults/${id}/items/known`, credential());
    const definition = JSON.stringify({ provider: "kernel", fields: [] });
    const rows = Array.from({ length: 498 }, (_, index) => ({
      id: `${name}-${String(index)}`,
      vault_id: id,
      key: `item-${String(index)}`,
      definition,
      request: Buffer.from(""),
    }));
    await server.database.query.insertInto("vault_items").values(rows).execute();
    const made = await Promise.all(
      ["one", "two", "three"].map(async (key) => refusal("PUT", `/vaults/${id}/items/${key}`, credential())),
    );
    expect(made.map(({ is }) => is).toSorted()).toEqual(["200 ", "409 conflict", "409 conflict"]);
    await ok("PUT", `/vaults/${id}/items/known`, credential());
    const listed = await ok<VaultItem[]>("GET", `/vaults/${id}/items`);
    expect(listed).toHaveLength(500);
    const shown = listed.filter(({ state }) => state.fields?.username?.value === "ada@shop.example");
    expect(shown).toHaveLength(2);
  });

  it("have at most 16 MiB of encrypted values in a vault, and can still lose some", async () => {
    const { id } = await vault();
    const fields = [{ name: "note", type: "text", required: false, value: "x" }];
    const spec = { provider: "kernel", fields };
    const { id: item_id } = await ok<VaultItem>("PUT", `/vaults/${id}/items/large`, credential(spec));
    const sealed = Buffer.alloc(16 * 1024 * 1024);
    await server.database.query.updateTable("vault_values").set({ sealed }).where("item_id", "=", item_id).execute();
    const full = { is: "409 conflict", message: expect.stringContaining("at most 16777216 bytes") as string };
    expect(await refusal("PUT", `/vaults/${id}/items/next`, credential(spec))).toMatchObject(full);
    const change = (note: string | null, version: number) => ({
      ...{ type: "credential", version },
      spec: { fields: { note: { value: note } }, add_fields: [] },
    });
    const more = { name: "more", type: "text", required: false };
    const added = { type: "credential", version: 1, spec: { add_fields: [more], fields: { more: { value: "x" } } } };
    expect(await refusal("PATCH", `/vaults/${id}/items/large`, added)).toMatchObject(full);
    await ok("PATCH", `/vaults/${id}/items/large`, change(null, 1));
    await ok("PATCH", `/vaults/${id}/items/large`, change("y", 2));
    await ok("PUT", `/vaults/${id}/items/next`, credential(spec));
  });

  it("return the present item for the same request again, and refuse another one", async () => {
    const path = `/vaults/${(await vault()).id}/items/shop`;
    const [first, second] = await Promise.all([
      ok<VaultItem>("PUT", path, credential()),
      ok("PUT", path, credential()),
    ]);
    expect(second).toEqual(first);
    await ok("PATCH", path, { type: "credential", version: 1, spec: { description: "Store" } });
    const again = await ok<VaultItem>("PUT", path, { spec: login, type: "credential" });
    expect(again).toMatchObject({ id: first.id, version: 2, spec: { description: "Store" } });
    const fields = login.fields.with(1, { name: "password", type: "password", value: "another-one" });
    for (const spec of [
      { ...login, fields },
      { ...login, description: "Other" },
    ])
      expect(await refusal("PUT", path, credential(spec))).toMatchObject({ is: "409 conflict" });
  });

  it("change in one step: remove, add, set and clear", async () => {
    const path = `/vaults/${(await vault()).id}/items/shop`;
    const { id } = await ok<VaultItem>("PUT", path, credential());
    const changed = await ok<VaultItem>("PATCH", path, {
      type: "credential",
      version: 1,
      expected_item_id: id,
      spec: {
        remove_fields: ["code", "username"],
        add_fields: [
          { name: "username", type: "text", sensitive: false },
          { name: "note", type: "text", required: false },
        ],
        fields: { password: { value: null }, username: { value: "grace" } },
        sites: ["Shop.Example"],
      },
    });
    expect(changed).toMatchObject({
      version: 2,
      spec: { description: "Shop", sites: ["shop.example"] },
      state: {
        status: "pending_collection",
        fields: {
          password: { has_value: false },
          username: { has_value: true, value: "grace" },
          note: { has_value: false },
        },
      },
    });
    expect(changed.spec.fields?.map(({ name }) => name)).toEqual(["password", "username", "note"]);
    const seed = { name: "seed", type: "totp", required: false };
    const change = (spec: object, more: object = {}) => ({ type: "credential", version: 2, spec, ...more });
    for (const [body, is, field] of [
      [change({ fields: { password: { value: "x" } } }, { version: 1 }), "409 conflict", "body.version"],
      [change({}, { expected_item_id: "other" }), "409 conflict", "body.expected_item_id"],
      [change({ remove_fields: ["code"] }), "400 bad_request", "body.spec.remove_fields[0]"],
      [change({ fields: { code: { value: "x" } } }), "400 bad_request", "body.spec.fields.code"],
      [change({ add_fields: [{ name: "note", type: "text" }] }), "400 bad_request", "body.spec.add_fields"],
      [change({ remove_fields: ["password", "username", "note"] }), "400 bad_request", "body.spec.remove_fields"],
      [change({ add_fields: [{ name: "seed", type: "totp" }] }), "400 bad_request", "body.spec"],
      [change({ add_fields: [seed], fields: { seed: { value: null } } }), "400 bad_request", "body.spec.fields.seed"],
      [change({ add_fields: [seed], fields: { seed: { value: "" } } }), "400 bad_request", "body.spec.fields.seed"],
    ] as const)
      expect(await refusal("PATCH", path, body)).toMatchObject({ is, field });
    expect(await ok("GET", path)).toEqual(changed);
  });

  it.each<[string, Field, string]>([
    ["a password that answers would show", { name: "a", type: "password", sensitive: false }, "[0].sensitive"],
    ["an empty value", { name: "a", type: "text", value: "" }, "[0].value"],
    ["a value that is too long in UTF-8", { name: "a", type: "text", value: "é".repeat(8193) }, "[0].value"],
    ["an address without @", { name: "a", type: "email", value: "ada" }, "[0].value"],
    ["a code in place of a seed", { name: "a", type: "totp", value: "123456" }, "[0].value"],
    [
      "a URI in place of a seed",
      { name: "a", type: "totp", value: "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP" },
      "[0].value",
    ],
    ["a required seed without a value", { name: "a", type: "totp" }, ""],
    ["a label of two lines", { name: "a", type: "text", label: "a\nb" }, "[0].label"],
    ["a label that hides characters", { name: "a", type: "text", label: "a\u202eb" }, "[0].label"],
    ["an unknown type", { name: "a", type: "card" }, "[0].type"],
    ["a name with a hyphen", { name: "a-b", type: "text" }, "[0].name"],
    ["two values", { name: "a", type: "text", value: "x", encrypted_value: "y" }, "[0]"],
    ["a passkey that is none", { name: "a", type: "passkey", value: '{"credentialId":"YQ"}' }, "[0].value"],
  ])("refuse %s, and do not repeat the value", async (_, field, at) => {
    const path = `/vaults/${(await vault()).id}/items/bad`;
    const {
      field: found,
      is,
      message = "",
    } = await refusal("PUT", path, credential({ provider: "kernel", fields: [field] }));
    expect([is, found]).toEqual(["400 bad_request", `body.spec.fields${at}`]);
    if (field.value !== undefined && field.value.length > 3) expect(message).not.toContain(field.value);
  });

  it("store passkeys of the FIDO exchange format with keys of P-256", async () => {
    const path = `/vaults/${(await vault()).id}/items/passkey`;
    const passkeyOf = (namedCurve: string, userHandle = "YWRh") =>
      JSON.stringify({
        credentialId: "Y3JlZA",
        userHandle,
        rpId: "shop.example",
        key: generateKeyPairSync("ec", { namedCurve })
          .privateKey.export({ format: "der", type: "pkcs8" })
          .toString("base64url"),
      });
    const fields = (value: string) =>
      credential({ provider: "kernel", fields: [{ name: "key", type: "passkey", value }] });
    expect((await refusal("PUT", path, fields(passkeyOf("secp384r1")))).message).toContain("P-256");
    expect((await refusal("PUT", path, fields(passkeyOf("P-256", "a".repeat(88))))).message).toContain("64 bytes");
    expect(await ok("PUT", path, fields(passkeyOf("P-256")))).toMatchObject({ state: { status: "ready" } });
  });

  it("refuse kinds that need other parties with 501 and the reason", async () => {
    const path = `/vaults/${(await vault()).id}/items/x`;
    for (const body of [
      { type: "wallet", spec: { provider: "kernel" } },
      { type: "wallet", spec: { provider: "link", authorization: { method: "oauth" } } },
      { type: "card", spec: { provider: "kernel", amount: 100, currency: "usd", wallet: "w" } },
      { type: "credential_account", spec: { provider: "1password" } },
      { type: "credential", spec: { provider: "1password", account: "a" } },
    ]) {
      const { is, message } = await refusal("PUT", path, body);
      expect(is).toBe("501 not_implemented");
      expect(message).toContain("agreement with a payment service or password manager");
    }
    await ok("PUT", path, credential());
    expect(await refusal("GET", `${path}?expand=payment_methods`)).toMatchObject({ is: "409 conflict" });
  });
});

describe("encrypted values", () => {
  const encrypt = async ({ jwk, kid }: VaultEncryptionKey, text: string, header: object = {}) =>
    new CompactEncrypt(new TextEncoder().encode(text))
      .setProtectedHeader({ alg: "ECDH-ES", enc: "A256GCM", kid, ...header })
      .encrypt(await importJWK({ ...jwk }, "ECDH-ES"));

  it("are decrypted with the constant key of their vault", async () => {
    const { id } = await vault();
    const [key, same] = await Promise.all([
      ok<VaultEncryptionKey>("GET", `/vaults/${id}/encryption_key`),
      ok("GET", `/vaults/${id}/encryption_key`),
    ]);
    expect(same).toEqual(key);
    expect(key).toMatchObject({ alg: "ECDH-ES", enc: "A256GCM", jwk: { kty: "EC", crv: "P-256" } });
    expect(Object.keys(key.jwk)).not.toContain("d");
    const fields = await Promise.all(
      ["user", "pin"].map(async (name) => ({ name, type: "text", encrypted_value: await encrypt(key, "ada") })),
    );
    const item = await ok<VaultItem>("PUT", `/vaults/${id}/items/a`, credential({ provider: "kernel", fields }));
    expect(item.state).toMatchObject({ status: "ready" });
    expect(item.state.fields).toEqual({ user: { has_value: true }, pin: { has_value: true } });
    const cleared = await ok<VaultItem>("PATCH", `/vaults/${id}/items/a`, {
      type: "credential",
      version: 1,
      spec: { fields: { user: { encrypted_value: await encrypt(key, "") } } },
    });
    expect(cleared.state).toMatchObject({ status: "pending_collection", fields: { user: { has_value: false } } });
  });

  it("are refused for fields whose values answers contain", async () => {
    const { id } = await vault();
    const key = await ok<VaultEncryptionKey>("GET", `/vaults/${id}/encryption_key`);
    const encrypted_value = await encrypt(key, "captured-secret");
    const field = { name: "a", type: "text", sensitive: false };
    const path = `/vaults/${id}/items/a`;
    const spec = (given: object) => credential({ provider: "kernel", fields: [{ ...field, ...given }] });
    expect(await refusal("PUT", path, spec({ encrypted_value }))).toMatchObject({
      is: "400 bad_request",
      field: "body.spec.fields[0].encrypted_value",
    });
    await ok("PUT", path, spec({ value: "x" }));
    const update = (change: object) => ({ type: "credential", version: 1, spec: change });
    expect(await refusal("PATCH", path, update({ fields: { a: { encrypted_value } } }))).toMatchObject({
      is: "400 bad_request",
      field: "body.spec.fields.a.encrypted_value",
    });
    const added = { add_fields: [{ ...field, name: "b" }], fields: { b: { encrypted_value } } };
    expect(await refusal("PATCH", path, update(added))).toMatchObject({
      is: "400 bad_request",
      field: "body.spec.fields.b.encrypted_value",
    });
    // A sensitive value does not become visible by a new definition of its field.
    await ok(
      "PATCH",
      path,
      update({ remove_fields: ["a"], add_fields: [{ ...field, sensitive: true }], fields: { a: { encrypted_value } } }),
    );
    const shown = await ok<VaultItem>("PATCH", path, {
      type: "credential",
      version: 2,
      spec: { remove_fields: ["a"], add_fields: [field] },
    });
    expect(shown.state.fields).toEqual({ a: { has_value: false } });
  });

  it("are refused when they are for another key, or are not as agreed", async () => {
    const [one, two] = [await vault(), await vault()];
    const [key, other] = [
      await ok<VaultEncryptionKey>("GET", `/vaults/${one.id}/encryption_key`),
      await ok<VaultEncryptionKey>("GET", `/vaults/${two.id}/encryption_key`),
    ];
    const put = async (encrypted_value: string) =>
      (
        await refusal(
          "PUT",
          `/vaults/${one.id}/items/a`,
          credential({ provider: "kernel", fields: [{ name: "a", type: "text", encrypted_value }] }),
        )
      ).is;
    expect(await put(await encrypt(other, "ada"))).toBe("400 encryption_key_mismatch");
    expect(await put("no.jwe")).toBe("400 encryption_key_mismatch");
    expect(await put(await encrypt({ ...other, kid: key.kid }, "ada"))).toBe("400 bad_request");
    expect(await put(await encrypt(key, "ada", { enc: "A128GCM" }))).toBe("400 bad_request");
    expect(await put(await encrypt(key, ""))).toBe("400 bad_request");
  });
});

it("waits for readiness and for events, and reports events in order", async () => {
  const path = `/vaults/${(await vault()).id}/items/shop`;
  const item = await ok<VaultItem>(
    "PUT",
    path,
    credential({ provider: "kernel", fields: [{ name: "a", type: "text" }] }),
  );
  expect(item.state.status).toBe("pending_collection");
  const known = await ok<VaultItemEvent[]>("GET", `${path}/events`);
  expect(known[0]).toMatchObject({ name: "created", data: { version: 1 } });
  const ready = ok<VaultItem>("GET", `${path}?wait=60`);
  const events = ok<VaultItemEvent[]>("GET", `${path}/events?wait=60&after=${known.at(-1)?.id ?? ""}`);
  await ok("PATCH", path, { type: "credential", version: 1, spec: { fields: { a: { value: "x" } } } });
  expect((await ready).state.status).toBe("ready");
  expect(await events).toEqual([expect.objectContaining({ name: "updated", data: { version: 2 } })]);
  const gone = refusal("GET", `${path}/events?wait=60&after=${(await events)[0]?.id ?? ""}`);
  await ok("DELETE", path);
  expect((await gone).is).toBe("404 not_found");
});

describe("items of connections", () => {
  const connect = async (change: object) =>
    ok<AuthConnection>("POST", "/auth/connections", { domain: "shop.example", profile_name: unique("p"), ...change });

  it("name the values of the connection's credential, and follow it", async () => {
    const { id } = await vault();
    const stored = await ok<Credential>("POST", "/credentials", {
      name: unique("login"),
      domain: "shop.example",
      values: { username: "ada", password: "correct-horse", empty: "", totp_secret: "x" },
      totp_secret: "JBSWY3DPEHPK3PXP",
    });
    const connection = await connect({ credential: { name: stored.name } });
    const path = `/vaults/${id}/items/shop`;
    const spec = { provider: "managed_auth", connection_id: connection.id, description: "Shop" };
    const item = await ok<VaultItem>("PUT", path, credential(spec));
    expect(item).toMatchObject({ version: 1, spec, state: { provider: "managed_auth", status: "ready" } });
    expect(item.state.fields).toEqual({
      username: { type: "text" },
      password: { type: "password" },
      totp: { type: "totp" },
    });
    const [listed] = await ok<VaultItem[]>("GET", `/vaults/${id}/items`);
    expect(listed?.state).toEqual({ provider: "managed_auth", status: "ready" });
    expect(await refusal("PATCH", path, { type: "credential", version: 1, spec: {} })).toMatchObject({
      is: "409 conflict",
    });
    await ok("DELETE", `/credentials/${stored.id}`);
    expect((await ok<VaultItem>("GET", path)).state).toMatchObject({
      status: "unavailable",
      status_reason: "no_credential",
    });
    await ok("DELETE", `/auth/connections/${connection.id}`);
    expect((await ok<VaultItem>("GET", path)).state).toMatchObject({ status_reason: "connection_not_found" });
  });

  it("are refused for connections without a stored credential", async () => {
    const path = `/vaults/${(await vault()).id}/items/shop`;
    const put = async (connection_id: string) =>
      (await refusal("PUT", path, credential({ provider: "managed_auth", connection_id }))).is;
    expect(await put("unknown")).toBe("404 not_found");
    expect(await put((await connect({})).id)).toBe("409 conflict");
    const project = await ok<{ id: string }>("POST", "/org/projects", { name: unique("other") });
    const foreign = await server.request("POST", "/auth/connections", {
      body: { domain: "shop.example", profile_name: "p" },
      headers: { "x-shoal-project": project.id },
    });
    expect(await put((foreign.body as AuthConnection).id)).toBe("404 not_found");
  });
});

describe("keys with policies", () => {
  it("do what their actions on vaults allow", async () => {
    const [one, two] = [await vault(), await vault()];
    const [{ id: project } = { id: "" }] = await ok<{ id: string }[]>("GET", "/org/projects?query=default");
    const keyFor = async (...actions: string[]) =>
      (
        await ok<{ key: string }>("POST", "/org/api_keys", {
          name: unique("key"),
          policy: {
            statements: actions.map((action) => ({ action, resource: `projects/${project}/vaults/${one.id}` })),
          },
        })
      ).key;
    const reader = await keyFor("vaults:read");
    const writer = await keyFor("vaults:write");
    const status = async (...of: Parameters<typeof send>) => (await send(...of)).status;
    expect(await status("GET", `/vaults/${one.name}`, undefined, reader)).toBe(200);
    expect((await send("GET", "/vaults?limit=100", undefined, reader)).body).toEqual([one]);
    for (const name of [two.id, two.name, "missing"])
      expect(await refusal("GET", `/vaults/${name}`, undefined, reader)).toMatchObject({
        is: "403 insufficient_scope",
      });
    expect(await status("PUT", `/vaults/${one.id}/items/a`, credential(), reader)).toBe(403);
    expect(await status("PUT", `/vaults/${one.id}/items/a`, credential(), writer)).toBe(200);
    expect(await status("GET", `/vaults/${one.id}/items`, undefined, writer)).toBe(403);
    expect(await status("GET", `/vaults/${one.id}/items`, undefined, reader)).toBe(200);
    expect(await status("DELETE", `/vaults/${one.id}`, undefined, writer)).toBe(403);
    expect(await status("POST", "/vaults", { name: "x" }, writer)).toBe(403);
    expect(
      await refusal("POST", "/org/api_keys", {
        name: "x",
        policy: { statements: [{ action: "vaults:read", resource: `projects/${project}/vaults/missing` }] },
      }),
    ).toMatchObject({ is: "400 bad_request" });
  });
});
