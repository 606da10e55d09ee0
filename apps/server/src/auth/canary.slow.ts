import { eventuallyPasses, filesBelow } from "@shoal/testkit";
import type { VaultEncryptionKey, VaultItem } from "@shoal/schemas";
import { CompactEncrypt } from "jose/jwe/compact/encrypt";
import { importJWK } from "jose/key/import";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { presentServerSecret } from "../config/data-dir.ts";
import { Envelopes } from "../storage/envelopes/envelopes.ts";
import { openMasterKeys } from "../storage/envelopes/master-keys.ts";
import { installationOf } from "../storage/envelopes/rewrap-command.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";
import { Credentials } from "./credentials/credentials.ts";

/** Secrets that the test stores or sends. Also valid Base32, so that each can be a TOTP secret. */
const canaries: string[] = [];
function canary(): string {
  const letters = Array.from(randomBytes(32), (byte) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".charAt(byte % 32));
  const made = letters.join("");
  canaries.push(made);
  return made;
}

let folder: string;
let accessLog: string;
let server: TestServer;
let replies = "";
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-canary-"));
  accessLog = join(folder, "access.log");
  server = await startTestServer({ log_level: "trace", access_log: accessLog }, { embedded: true });
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function send(
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const reply = await server.request(method, path, { ...(body !== undefined && { body }), headers });
  replies += `${JSON.stringify([...reply.headers])}\n${JSON.stringify(reply.body)}\n`;
  return reply.status;
}

/** Each form in which a text could be stored by accident. */
function formsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  // Without its last group, which depends on the text that follows.
  return [text, text.toLowerCase(), bytes.toString("hex"), bytes.toString("base64").slice(0, 40)];
}

async function dump(): Promise<string> {
  const { query } = server.database;
  const { rows: tables } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = current_schema()`.execute(query);
  const texts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.table(name)} t`.execute(query);
    texts.push(...rows.map(({ row }) => `${name} ${row}`));
  }
  return texts.join("\n");
}

function expectNoCanary(what: string, text: string): void {
  for (const [index, secret] of canaries.entries())
    for (const form of formsOf(secret)) expect(text.includes(form), `canary ${String(index)} in ${what}`).toBe(false);
}

async function openCredentials() {
  const { database, dataDir } = server;
  const keys = await openMasterKeys(
    { master_key: "secret_key" },
    { serverSecret: presentServerSecret(dataDir, undefined), installation: await installationOf(database.query) },
  );
  return new Credentials({ database, envelopes: new Envelopes(keys) });
}

/** Stores values in a vault by each way. */
async function fillVault(): Promise<void> {
  const path = "/vaults/visible-vault/items/visible-item";
  expect(await send("POST", "/vaults", { name: "visible-vault" })).toBe(200);
  const { body } = await server.request("GET", "/vaults/visible-vault/encryption_key");
  const { jwk, kid } = body as VaultEncryptionKey;
  const encrypt = async (text: string) =>
    new CompactEncrypt(new TextEncoder().encode(text))
      .setProtectedHeader({ alg: "ECDH-ES", enc: "A256GCM", kid })
      .encrypt(await importJWK({ ...jwk }, "ECDH-ES"));
  const fields = [
    { name: "given", type: "password", value: canary() },
    { name: "encrypted", type: "text", encrypted_value: await encrypt(canary()) },
    { name: "seed", type: "totp", value: canary() },
    { name: "changed", type: "text" },
    { name: "entered", type: "password" },
  ];
  expect(await send("PUT", path, { type: "credential", spec: { provider: "kernel", fields } })).toBe(200);
  const change = { given: { encrypted_value: await encrypt(canary()) }, changed: { value: canary() } };
  expect(await send("PATCH", path, { type: "credential", version: 1, spec: { fields: change } })).toBe(200);
  const refused = { given: { value: canary() }, unknown: { value: canary() } };
  expect(await send("PATCH", path, { type: "credential", version: 2, spec: { fields: refused } })).toBe(400);
  const visible = [{ name: "a", type: "text", sensitive: false, encrypted_value: await encrypt(canary()) }];
  expect(await send("PUT", `${path}-2`, { type: "credential", spec: { provider: "kernel", fields: visible } })).toBe(
    400,
  );
  const { action } = (await server.request("GET", path)).body as VaultItem;
  const answer = await fetch(`${server.baseUrl}/collect/form`, {
    method: "POST",
    headers: { authorization: `Bearer ${new URL(action?.url ?? "").hash.slice(1)}` },
    body: JSON.stringify({ values: { entered: canary() } }),
  });
  replies += await answer.text();
  expect(answer.status).toBe(200);
  for (const suffix of ["", "/events"]) expect(await send("GET", `${path}${suffix}`)).toBe(200);
  expect(await send("GET", "/vaults/visible-vault/items")).toBe(200);
}

it("keeps secrets of credentials and vaults out of replies, logs, the audit log, files and the database", async () => {
  const { query } = server.database;
  const [password, seed] = [canary(), canary()];
  const credential = { name: "visible-name", domain: "example.com", values: { password }, totp_secret: seed };
  expect(await send("POST", "/credentials", credential, { "idempotency-key": "canary" })).toBe(201);
  expect(await send("POST", "/credentials", credential, { "idempotency-key": "canary" })).toBe(201);
  expect(await send("POST", "/credentials", credential)).toBe(409);
  for (const path of ["", "/visible-name", "/visible-name/totp-code", "?query=visible"])
    expect(await send("GET", `/credentials${path}`)).toBe(200);
  const change = { values: { password: canary(), pin: canary() }, totp_secret: `otpauth://totp/x?secret=${canary()}` };
  expect(await send("PATCH", "/credentials/visible-name", change)).toBe(200);

  const refused: readonly unknown[] = [
    { ...credential, totp_secret: `${canary()}!` },
    { ...credential, totp_secret: `otpauth://totp/x?secret=${canary()}&algorithm=MD5` },
    { ...credential, values: { password: [canary()] } },
    { ...credential, values: canary() },
    { ...credential, values: { password: canary().repeat(2100) } },
    { ...credential, domain: "not a domain", values: { password: canary() } },
    { ...credential, name: "", values: { password: canary() } },
    { ...credential, sso_provider: "\0", values: { password: canary() } },
    { ...credential, unknown: 1, values: { password: canary() } },
    `{"name":"broken","values":{"password":"${canary()}"`,
    `{"name":"broken","values":{"password":"${canary()}",}}`,
  ];
  for (const body of refused) expect([400, 409]).toContain(await send("POST", "/credentials", body));
  expect(await send("PATCH", "/credentials/missing", { values: { password: canary() } })).toBe(404);
  expect(await send("POST", "/credentials/visible-name", { values: { password: canary() } })).toBe(405);

  await fillVault();

  // The values are there, in their own rows only: a swapped row fails, and the failure does not show it.
  const credentials = await openCredentials();
  const { project_id: projectId } = await query
    .selectFrom("credentials")
    .select("project_id")
    .executeTakeFirstOrThrow();
  expect((await credentials.open(projectId, "visible-name")).values).toEqual(change.values);
  expect(await send("POST", "/credentials", { ...credential, name: "other", totp_secret: canary() })).toBe(201);
  await sql`update credentials set totp = (select totp from credentials where name = 'visible-name') where name = 'other'`.execute(
    query,
  );
  expect(await send("GET", "/credentials/other/totp-code")).toBe(500);

  await eventuallyPasses(async () => {
    expect(await dump()).toMatch(/audit_logs .*credentials/);
  });
  const [start, end] = [new Date(Date.now() - 600_000), new Date(Date.now() + 60_000)].map((at) => at.toISOString());
  expect(await send("GET", `/audit-logs?start=${start ?? ""}&end=${end ?? ""}`)).toBe(200);
  // The service writes its access log in batches; this is the last request.
  await eventuallyPasses(() => {
    expect(readFileSync(accessLog, "utf8")).toContain("/audit-logs");
  });
  const texts = {
    replies,
    "the log": server.log(),
    "the access log": readFileSync(accessLog, "utf8"),
    "the database": await dump(),
  };
  // The search would find a canary: it finds texts that are not secret.
  expect(texts.replies).toContain("visible-name");
  expect(texts["the access log"]).toContain("/credentials/visible-name");
  for (const name of ["visible-name", "visible-item"]) expect(texts["the database"]).toContain(name);
  for (const [what, text] of Object.entries(texts)) expectNoCanary(what, text);
  await sql`checkpoint`.execute(query);
  let seen = false;
  for (const directory of [server.dataDir, server.databaseDir])
    for (const [path, content] of filesBelow(directory)) {
      seen ||= content.includes("visible-name");
      expectNoCanary(path, content);
    }
  expect(seen).toBe(true);
});
