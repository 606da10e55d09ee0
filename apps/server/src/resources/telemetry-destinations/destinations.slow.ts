import { OtlpDestination } from "@shoal/schemas";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

const secret = "s3cret-of-a-collector";
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ allow_private_hosts: ["127.0.0.1:4318"], rate_limit_per_key: 0 });
});
afterAll(() => server.close());

const create = (body: object) => server.request("POST", "/telemetry/destinations", { body });
const update = (id: string, body: object) => server.request("PATCH", `/telemetry/destinations/${id}`, { body });
async function made(body: object): Promise<OtlpDestination> {
  const answer = await create(body);
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 });
  return OtlpDestination.parse(answer.body);
}
const refused = (field: string, text: string) => ({
  status: 400,
  body: { code: "bad_request", message: expect.stringMatching(new RegExp(`^body\\.${field}: .*${text}`)) as unknown },
});

it("can be created, found by id and by name, listed, changed and deleted", async () => {
  const destination = await made({
    name: "first",
    endpoint: "https://otlp.example.com/base/",
    description: "for all",
    headers: { Authorization: secret, "x-tenant": "t1" },
  });
  expect(destination).toMatchObject({
    name: "first",
    endpoint: "https://otlp.example.com/base/",
    description: "for all",
    headers: { Authorization: "", "x-tenant": "" },
  });
  for (const which of [destination.id, "first"])
    expect((await server.request("GET", `/telemetry/destinations/${which}`)).body).toEqual(destination);
  await made({ name: "second", endpoint: "http://93.184.216.34:4318" });
  const list = async (query: string) =>
    ((await server.request("GET", `/telemetry/destinations?${query}`)).body as OtlpDestination[]).map(
      ({ name }) => name,
    );
  expect(await list("")).toEqual(["second", "first"]);
  expect(await list("query=IRS")).toEqual(["first"]);
  expect(await list(`query=${destination.id}`)).toEqual(["first"]);
  expect(await list("name=SECOND")).toEqual(["second"]);
  expect(await list("limit=1&offset=1")).toEqual(["first"]);

  expect(await create({ name: "first", endpoint: "https://other.example" })).toMatchObject({
    status: 409,
    body: { code: "name_taken" },
  });
  expect(await update("second", { name: "first" })).toMatchObject({ status: 409, body: { code: "name_taken" } });
  const changed = await update("first", {
    name: "renamed",
    description: "",
    headers: { AUTHORIZATION: "another", "X-Tenant": null, "x-new": "n" },
  });
  expect(changed.body).toMatchObject({
    id: destination.id,
    name: "renamed",
    endpoint: "https://otlp.example.com/base/",
  });
  expect(OtlpDestination.parse(changed.body).headers).toEqual({ AUTHORIZATION: "", "x-new": "" });
  expect(changed.body).not.toHaveProperty("description");
  expect(await server.request("DELETE", "/telemetry/destinations/renamed")).toMatchObject({ status: 204 });
  for (const method of ["GET", "PATCH", "DELETE"])
    expect(
      await server.request(method, `/telemetry/destinations/${destination.id}`, method === "PATCH" ? { body: {} } : {}),
    ).toMatchObject({
      status: 404,
      body: { code: "not_found" },
    });
});

it("requires an allowed endpoint", async () => {
  for (const endpoint of [
    "http://10.1.2.3:4318",
    "http://127.0.0.1:4317",
    "http://[::1]:4318",
    "http://localhost:4319",
    "http://x.localhost:80",
    "http://0x7f.1:80",
    "https://169.254.169.254",
    "http://192.168.0.1/otlp",
    "http://[::ffff:10.0.0.1]",
  ]) {
    expect(await create({ name: "x", endpoint }), endpoint).toMatchObject(
      refused("endpoint", "expected a public address: .* is .*allow_private_hosts"),
    );
  }
  await made({ name: "allowed", endpoint: "http://127.0.0.1:4318" });
  // Names are resolved when telemetry is sent.
  await made({ name: "by-name", endpoint: "https://collector.invalid" });
  expect(await update("allowed", { endpoint: "http://10.0.0.1" })).toMatchObject(
    refused("endpoint", "expected a public address"),
  );
  for (const endpoint of [
    "ftp://a.example",
    "https://a.example/v1/logs",
    "https://a.example/v1/traces/",
    "https://a.example/?q",
    "https://a.example/#f",
    "nothing",
  ])
    expect(await create({ name: "x", endpoint }), endpoint).toMatchObject(refused("endpoint", ""));
  const withPassword = await create({ name: "x", endpoint: `https://user:${secret}@a.example` });
  expect(withPassword).toMatchObject(refused("endpoint", "must not contain a user name or password"));
  expect(JSON.stringify(withPassword.body)).not.toContain(secret);
});

it("limits headers to 8192 bytes, also after a change, and rejects headers that the service sets", async () => {
  await made({ name: "full", endpoint: "https://a.example", headers: { a: "x".repeat(8000) } });
  expect(await update("full", { headers: { b: "x".repeat(192) } })).toMatchObject(
    refused("headers", "would be 8194 bytes"),
  );
  expect((await update("full", { headers: { A: "x".repeat(4000), b: "y".repeat(4000) } })).status).toBe(200);
  expect(await create({ name: "x", endpoint: "https://a.example", headers: { a: "x".repeat(8192) } })).toMatchObject(
    refused("headers", "8192"),
  );
  expect(await create({ name: "x", endpoint: "https://a.example", headers: { a: "1", A: "2" } })).toMatchObject(
    refused("headers", "twice"),
  );
  for (const name of ["Content-Type", "host", "Transfer-Encoding"])
    expect(await create({ name: "x", endpoint: "https://a.example", headers: { [name]: "v" } })).toMatchObject(
      refused("headers", "set by the service"),
    );
});

it("merges concurrent changes of headers", async () => {
  await made({ name: "busy", endpoint: "https://a.example" });
  const names = Array.from({ length: 8 }, (_, index) => `x-${String(index)}`);
  await Promise.all(names.map((name) => update("busy", { headers: { [name]: secret } })));
  expect(
    Object.keys(
      OtlpDestination.parse((await server.request("GET", "/telemetry/destinations/busy")).body).headers,
    ).sort(),
  ).toEqual(names);
});

it("reveals its secrets in no answer, log, audit entry or row", async () => {
  const answers = [
    await create({
      name: "silent",
      endpoint: "https://a.example",
      headers: { authorization: secret, "x-key": secret },
    }),
  ];
  answers.push(
    await update("silent", { headers: { "x-other": secret } }),
    await update("silent", { headers: { host: secret } }),
    await server.request("GET", "/telemetry/destinations"),
    await create({ name: "silent", endpoint: "https://a.example", headers: { a: secret } }),
  );
  expect(answers.map(({ status }) => status)).toEqual([201, 200, 400, 200, 409]);
  await expect
    .poll(
      async () =>
        (
          await sql<{
            count: number;
          }>`select count(*)::int as count from audit_logs where operation like 'telemetry.destinations.%'`.execute(
            server.database.query,
          )
        ).rows[0]?.count,
    )
    .toBeGreaterThanOrEqual(4);
  const { rows } =
    await sql`select t::text from telemetry_destinations t union all select a::text from audit_logs a union all select i::text from idempotency_keys i`.execute(
      server.database.query,
    );
  const kept = await server.database.query
    .selectFrom("telemetry_destinations")
    .selectAll()
    .where("name", "=", "silent")
    .executeTakeFirstOrThrow();
  expect(kept.headers?.length).toBeGreaterThan(2 * secret.length);
  expect(kept.headers?.includes(secret)).toBe(false);
  for (const text of [JSON.stringify(answers.map(({ body }) => body)), server.log(), JSON.stringify(rows)])
    expect(text).not.toContain(secret);
});
