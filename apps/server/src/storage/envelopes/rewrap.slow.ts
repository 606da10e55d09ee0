import { sql } from "kysely";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, it } from "vitest";
import { shoalServer } from "../../main/shoal-server.ts";
import { deploymentRow } from "../../testing/deployment-row.ts";
import { envelopesOf } from "../../testing/envelopes-of.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { sealedColumns } from "./sealed-columns.ts";

const [first, second] = ["first-secret-".repeat(4), "second-secret-".repeat(4)];
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ secret_key: first }, { proxied: true });
});
afterAll(() => server.close());

/** Runs the command against the database of the running service. */
async function rewrap(env: Readonly<Record<string, string>>): Promise<{ status: number; output: string }> {
  const stream = () => new PassThrough();
  const stderr = stream();
  let output = "";
  stderr.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const status = await shoalServer(
    ["rewrap", "--data-dir", server.dataDir],
    { SHOAL_DATABASE_URL: server.proxy?.url ?? "", ...env },
    { stdin: stream(), stdout: stream(), stderr },
  );
  return { status, output };
}

async function keyIds(): Promise<Set<string>> {
  const { rows } = await sql<{
    sealed: Buffer;
  }>`select password as sealed from proxies where password is not null`.execute(server.database.query);
  return new Set(rows.map(({ sealed }) => sealed.subarray(2, 2 + sealed.readUInt8(1)).toString()));
}

it("covers every column with sealed values", async () => {
  const others = [
    "api_keys.key_hash",
    "audit_chain.first_previous_hash",
    "audit_chain.last_hash",
    "audit_chain.seal",
    "audit_logs.hash",
    "audit_logs.previous_hash",
    "console_links.code_hash",
    "console_sessions.token_hash",
    "flow_run_pictures.jpeg",
    // Sealed with keys derived from secret_key directly.
    "console_sessions.refresh_token",
    "idempotency_keys.response",
    "replica_secret.secret",
    "servers.secret_check",
    "session_files.description",
  ];
  const { rows } = await sql<{ name: string }>`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = current_schema() and data_type = 'bytea'`.execute(server.database.query);
  expect(rows.map(({ name }) => name).sort()).toEqual(
    [...others, ...sealedColumns.map(({ column, table }) => `${table}.${column}`)].sort(),
  );
});

it("moves all values to the new key while the service runs, and again does nothing", async () => {
  for (let index = 0; index < 205; index += 1) {
    const config = { host: "proxy.example", port: 3128, username: "user", password: `password ${String(index)}` };
    const { status } = await server.request("POST", "/proxies", { body: { type: "custom", config } });
    expect(status).toBe(201);
  }
  const before = await keyIds();
  expect(before.size).toBe(1);

  const unreadable = await rewrap({ SHOAL_SECRET_KEY: second });
  expect(unreadable.status).toBe(1);
  expect(unreadable.output).toContain("205 values could not be rewrapped");
  expect(unreadable.output).toContain("previous_secret_keys");
  expect(await keyIds()).toEqual(before);

  const done = await rewrap({ SHOAL_SECRET_KEY: second, SHOAL_PREVIOUS_SECRET_KEYS: first });
  expect(done).toEqual({
    status: 0,
    output: expect.stringMatching(
      /^200 of 205\n205 of 205\nRewrapped 205 values.\nKeep previous_secret_keys .+\n$/,
    ) as unknown,
  });
  const after = await keyIds();
  expect(after.size).toBe(1);
  expect(after).not.toEqual(before);
  expect(await rewrap({ SHOAL_SECRET_KEY: second })).toEqual({ status: 0, output: "Rewrapped 0 values.\n" });
  expect(JSON.stringify([done, unreadable])).not.toMatch(/(first|second)-secret/);
});

it("moves the variables, the repository token and the key of deployments", async () => {
  const { query } = server.database;
  const old = await envelopesOf(server, first);
  const { id: projectId } = await server.addProject("rewrapped");
  const id = "d".repeat(24);
  const place = (field: string) => ({ projectId, id, field });
  const sealed = (text: string, field: string) => old.seal(text, place(field));
  const env = await sealed('{"TOKEN":"t"}', "deployments.env");
  const source_token = await sealed("ghp_token", "deployments.source_token");
  await query
    .insertInto("deployments")
    .values(deploymentRow({ id, project_id: projectId, env, source_token }))
    .execute();
  const key = await query.selectFrom("api_keys").select("id").limit(1).executeTakeFirstOrThrow();
  const secret = await sealed("sk_app", "deployment_keys.secret");
  await query.insertInto("deployment_keys").values({ deployment_id: id, key_id: key.id, secret }).execute();

  const done = await rewrap({ SHOAL_SECRET_KEY: second, SHOAL_PREVIOUS_SECRET_KEYS: first });
  expect(done).toMatchObject({ status: 0, output: expect.stringContaining("Rewrapped 3 values.") as unknown });
  const present = await envelopesOf(server, second);
  const row = await query
    .selectFrom("deployments")
    .innerJoin("deployment_keys", "deployment_keys.deployment_id", "deployments.id")
    .select(["env", "source_token", "secret"])
    .where("deployments.id", "=", id)
    .executeTakeFirstOrThrow();
  expect([
    await present.unseal(row.env, place("deployments.env")),
    await present.unseal(row.source_token ?? Buffer.alloc(0), place("deployments.source_token")),
    await present.unseal(row.secret, place("deployment_keys.secret")),
  ]).toEqual(['{"TOKEN":"t"}', "ghp_token", "sk_app"]);
});
