import { AuditLogExportDestination, AuditLogExportDestinationTestResult, ErrorBody } from "@shoal/schemas";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { completeConfig } from "../../config/config.ts";
import { Cleanup } from "../../host/cleanup.ts";
import { blockedStatements } from "../../testing/blocked-statements.ts";
import { type ExportTarget, startExportTarget, targetDestination } from "../../testing/export-target.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { openDestinations } from "./feature.ts";

const path = "/audit-logs/export/destinations";
let target: ExportTarget;
let server: TestServer;
beforeAll(async () => {
  target = await startExportTarget();
  server = await startTestServer({ ...target.settings, unknown_fields: "refuse" });
});
afterAll(async () => {
  await server.close();
  await target.close();
});

async function create(changes: object = {}): Promise<AuditLogExportDestination> {
  const { body, status } = await server.request("POST", path, {
    body: { ...targetDestination, prefix: `p${String(Math.random()).slice(2)}/`, ...changes },
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return AuditLogExportDestination.parse(body);
}
const patch = (id: string, body: object) => server.request("PATCH", `${path}/${id}`, { body });
const remove = async (id: string) => {
  expect((await server.request("DELETE", `${path}/${id}`)).status).toBe(204);
};
const test = async (id: string) => {
  const { body, status } = await server.request("POST", `${path}/${id}/test`);
  expect(status).toBe(200);
  return AuditLogExportDestinationTestResult.parse(body);
};

describe("a destination", () => {
  it("starts paused, and can be read, listed newest first, changed and deleted", async () => {
    const first = await create({ kms_key_id: "alias/audit" });
    expect(first).toMatchObject({
      ...targetDestination,
      kms_key_id: "alias/audit",
      status: "paused",
      consecutive_failures: 0,
      kernel_role_arn: "arn:aws:iam::210987654321:user/shoal",
      external_id: expect.stringMatching(/^shoal-[a-z0-9]{24}$/) as unknown,
    });
    for (const absent of ["last_error", "last_exported_cursor", "next_attempt_at"])
      expect(first).not.toHaveProperty(absent);
    const second = await create();
    expect(second).not.toHaveProperty("kms_key_id");
    expect(second.external_id).not.toBe(first.external_id);
    const list = await server.request("GET", `${path}?limit=1`);
    expect([list.body, list.headers.get("x-has-more"), list.headers.get("x-next-offset")]).toEqual([
      [second],
      "true",
      "1",
    ]);
    expect((await server.request("GET", `${path}?limit=1&offset=1`)).body).toEqual([first]);

    const changed = AuditLogExportDestination.parse(
      (
        await patch(first.id, {
          bucket: "other.bucket",
          prefix: "",
          region: "us-gov-west-1",
          role_arn: "arn:aws-us-gov:iam::123456789012:role/path/x",
          kms_key_id: "",
        })
      ).body,
    );
    expect(changed).toMatchObject({
      bucket: "other.bucket",
      prefix: "",
      region: "us-gov-west-1",
      role_arn: "arn:aws-us-gov:iam::123456789012:role/path/x",
      external_id: first.external_id,
      status: "paused",
    });
    expect(changed).not.toHaveProperty("kms_key_id");
    expect(changed.updated_at > first.updated_at).toBe(true);
    expect((await server.request("GET", `${path}/${first.id}`)).body).toEqual(changed);
    expect((await patch(first.id, {})).body).toEqual(changed);

    for (const { id } of [first, second]) await remove(id);
    for (const reply of [
      await server.request("GET", `${path}/${first.id}`),
      await patch(first.id, { prefix: "x" }),
      await server.request("DELETE", `${path}/${first.id}`),
      await server.request("POST", `${path}/${first.id}/test`),
      await server.request("GET", `${path}/%00`),
    ]) {
      expect(reply).toMatchObject({ status: 404, body: { code: "not_found" } });
    }
  });

  it.each<readonly [string, object]>([
    ["type", { type: "gcs" }],
    ["format", { format: "csv" }],
    ...[
      "",
      "ab",
      "A-bucket",
      "under_score",
      "a..b",
      "a.-b",
      "-ab",
      "ab-",
      "10.0.0.1",
      "bucket/x",
      "bucket?x",
      "bucket@evil.example",
      "evil.example#",
      "x".repeat(64),
    ].map((bucket) => ["bucket", { bucket }] as const),
    ...[
      "/a",
      "a//b",
      "../a",
      "a/../b",
      "a/./b",
      "a/..",
      ".a",
      "a b",
      "a%2e",
      "a?b",
      "a#b",
      "ä",
      "a\\b",
      "x".repeat(513),
    ].map((prefix) => ["prefix", { prefix }] as const),
    ...[
      "",
      "eu",
      "eu-central",
      "EU-CENTRAL-1",
      "eu-central-1.evil.example",
      "evil.example/",
      "eu-central-1@x",
      "localhost",
    ].map((region) => ["region", { region }] as const),
    ...[
      "",
      "role",
      "arn:aws:iam::123:role/x",
      "arn:aws:iam::123456789012:user/x",
      "arn:aws:s3::123456789012:role/x",
      "arn:aws:iam::123456789012:role/",
      "arn:aws:iam::123456789012:role/a b",
      "arn:evil:iam::123456789012:role/x",
    ].map((role_arn) => ["role_arn", { role_arn }] as const),
    ...[
      "key",
      "alias/",
      "arn:aws:kms:eu-central-1:123456789012:12345678-1234-1234-1234-123456789012",
      "12345678-1234-1234-1234-12345678901",
      "alias/x\r\nx-evil: 1",
    ].map((kms_key_id) => ["kms_key_id", { kms_key_id }] as const),
    ["external_id", { external_id: "mine, with spaces" }],
  ])("refuses a wrong %s: %j", async (field, wrong) => {
    const { body, status } = await server.request("POST", path, {
      body: { ...targetDestination, prefix: "wrong/", ...wrong },
    });
    expect([status, ErrorBody.parse(body).message]).toEqual([400, expect.stringContaining(field)]);
    expect((await patch("none", wrong)).status).toBe(400);
  });

  it.each([
    { bucket: "a.bucket.with-dots" },
    { prefix: "dt=2026/_x/y.z-" },
    { region: "ap-southeast-2" },
    { role_arn: "arn:aws-cn:iam::123456789012:role/a/b+c=d,e.f@g-h_i" },
    { kms_key_id: "12345678-1234-1234-1234-123456789012" },
    { kms_key_id: "mrk-0123456789abcdef0123456789abcdef" },
    { kms_key_id: "arn:aws:kms:eu-central-1:123456789012:key/12345678-1234-1234-1234-123456789012" },
    { kms_key_id: "arn:aws:kms:eu-central-1:123456789012:alias/audit" },
  ])("accepts %j", async (changes) => {
    const { id } = await create(changes);
    expect((await patch(id, changes)).status).toBe(200);
    await remove(id);
  });

  it("rejects a second destination for the same place, and an eleventh destination", async () => {
    const one = await create({ prefix: "same/" });
    const taken = { status: 409, body: { code: "conflict", message: expect.stringContaining('"same/"') as unknown } };
    expect(await server.request("POST", path, { body: { ...targetDestination, prefix: "same/" } })).toMatchObject(
      taken,
    );
    const other = await create({ prefix: "other/" });
    expect(await patch(other.id, { prefix: "same/" })).toMatchObject(taken);
    const more = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        server.request("POST", path, { body: { ...targetDestination, prefix: `more/${String(index)}/` } }),
      ),
    );
    expect(more.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 8 }, () => 201), 409, 409]);
    expect(more.find(({ status }) => status === 409)?.body).toMatchObject({
      code: "conflict",
      message: expect.stringContaining("Delete one first") as unknown,
    });
    for (const { body, status } of more) if (status === 201) await remove(AuditLogExportDestination.parse(body).id);
    for (const { id } of [one, other]) await remove(id);
  });

  it("answers 409 to a change that conflicts with another change", async () => {
    const { id } = await create();
    const { query } = server.database;
    let waiting: ReturnType<typeof patch> | undefined;
    await query.transaction().execute(async (transaction) => {
      await transaction
        .updateTable("audit_export_destinations")
        .set({ revision: sql<number>`revision + 1`, prefix: "first/" })
        .where("id", "=", id)
        .execute();
      waiting = patch(id, { prefix: "second/" });
      await expect.poll(() => blockedStatements({ query }, "update%audit_export_destinations%")).toBe(1);
    });
    expect(await waiting).toMatchObject({
      status: 409,
      body: { code: "conflict", message: expect.stringContaining("another request") as unknown },
    });
    expect((await server.request("GET", `${path}/${id}`)).body).toMatchObject({ prefix: "first/" });
    await remove(id);
  });

  it("rejects every operation with the key of a project", async () => {
    const { id } = await create();
    const { key } = await server.addProject("outsider");
    const tries = [
      ["POST", path, { ...targetDestination, prefix: "mine/" }],
      ["GET", path],
      ["GET", `${path}/${id}`],
      ["PATCH", `${path}/${id}`, { status: "active" }],
      ["DELETE", `${path}/${id}`],
      ["POST", `${path}/${id}/test`],
      ["GET", `${path}/none`],
    ] as const;
    for (const [method, at, body] of tries)
      expect(await server.request(method, at, { key, ...(body && { body }) })).toMatchObject({
        status: 403,
        body: { code: "forbidden" },
      });
    expect((await server.request("GET", `${path}/${id}`)).body).toMatchObject({ status: "paused" });
    await remove(id);
  });

  it("records each change in the audit log", async () => {
    const { id } = await create();
    await patch(id, { prefix: "audited/" });
    await test(id);
    await remove(id);
    const start = new Date(Date.now() - 600_000).toISOString();
    const entries = (
      await server.request(
        "GET",
        `/audit-logs?start=${start}&end=${new Date(Date.now() + 60_000).toISOString()}&service=auditLogs&limit=4`,
      )
    ).body as { operation: string; path: string; status: number }[];
    expect(entries.map(({ operation, path: at, status }) => [operation, at.replace(id, "ID"), status])).toEqual([
      ["auditLogs.exportDestinations.delete", `${path}/ID`, 204],
      ["auditLogs.exportDestinations.test", `${path}/ID/test`, 200],
      ["auditLogs.exportDestinations.update", `${path}/ID`, 200],
      ["auditLogs.exportDestinations.create", path, 201],
    ]);
  });
});

describe("a test", () => {
  it("assumes the role with the external id, and writes an object with its credentials", async () => {
    const key = "arn:aws:kms:eu-central-1:123456789012:alias/audit";
    const { external_id, id } = await create({ prefix: "dt=now/tested-", kms_key_id: key });
    expect(await test(id)).toEqual({ success: true, stage: "complete" });
    expect(target.sts.asked.at(-1)).toMatchObject({
      Action: "AssumeRole",
      RoleArn: targetDestination.role_arn,
      ExternalId: external_id,
    });
    expect(target.s3.done.at(-1)).toBe("PUT /shoal/dt%3Dnow/tested-shoal-export-test.txt");
    expect(target.s3.lastHeaders).toMatchObject({
      "x-amz-security-token": "token/of+a=role",
      "x-amz-server-side-encryption": "aws:kms",
      "x-amz-server-side-encryption-aws-kms-key-id": key,
    });
    expect((await server.request("GET", `${path}/${id}`)).body).toMatchObject({
      status: "paused",
      consecutive_failures: 0,
    });
    await remove(id);
  });

  it("reports the failed step and its error", async () => {
    const role_arn = "arn:aws:iam::123456789012:role/refused";
    target.sts.refused.add(role_arn);
    const { id } = await create({ role_arn });
    expect(await test(id)).toMatchObject({
      success: false,
      stage: "assume_role",
      error: {
        code: "assume_role_failed",
        message: expect.stringMatching(/403 AccessDenied: User "shoal" is not authorized.*role\/refused/) as unknown,
      },
    });
    await patch(id, { role_arn: targetDestination.role_arn, bucket: "not-there" });
    expect(await test(id)).toMatchObject({
      success: false,
      stage: "put_object",
      error: { code: "put_object_failed", message: expect.stringContaining("404 NoSuchBucket") as unknown },
    });
    target.sts.keys = { ...target.sts.keys, secretKey: "another" };
    await patch(id, { bucket: "shoal" });
    expect(await test(id)).toMatchObject({
      stage: "put_object",
      error: { message: expect.stringContaining("403 SignatureDoesNotMatch") as unknown },
    });
    target.sts.keys = { ...target.sts.keys, secretKey: "S3RVER" };
    target.s3.fault = () => "away";
    expect(await test(id)).toMatchObject({
      stage: "put_object",
      error: { message: expect.stringContaining("could not be reached") as unknown },
    });
    target.s3.fault = () => 301;
    expect(await test(id)).toMatchObject({
      stage: "put_object",
      error: { message: expect.stringContaining("answered 301") as unknown },
    });
    target.s3.fault = undefined;
    expect(await test(id)).toMatchObject({ success: true });
    await remove(id);
    expect(server.log()).not.toContain("topsecret");
  });
});

describe("a service without an identity", () => {
  it("names the missing setting", async () => {
    const bare = await startTestServer();
    try {
      const refusal = {
        status: 400,
        body: {
          code: "audit_export_not_available",
          message: expect.stringContaining("audit_export_identity") as unknown,
        },
      };
      expect(await bare.request("POST", path, { body: { ...targetDestination, prefix: "" } })).toMatchObject(refusal);
      expect(await bare.request("GET", path)).toMatchObject({ status: 200, body: [] });
      // The operator removed the identity later.
      await bare.database.query
        .insertInto("audit_export_destinations")
        .values({
          id: "left",
          bucket: "b",
          prefix: "",
          region: "eu-central-1",
          role_arn: "r",
          kms_key_id: null,
          external_id: "e",
        })
        .execute();
      expect(await bare.request("GET", `${path}/left`)).toMatchObject({ status: 200, body: { kernel_role_arn: "" } });
      expect(await bare.request("PATCH", `${path}/left`, { body: { status: "active" } })).toMatchObject(refusal);
      expect(await bare.request("PATCH", `${path}/left`, { body: { status: "paused" } })).toMatchObject({
        status: 200,
      });
      expect(await bare.request("POST", `${path}/left/test`)).toMatchObject({
        status: 200,
        body: {
          success: false,
          stage: "assume_role",
          error: { message: expect.stringContaining("audit_export_identity") as unknown },
        },
      });
      expect(await bare.request("DELETE", `${path}/left`)).toMatchObject({ status: 204 });
    } finally {
      await bare.close();
    }
  });

  it("does not start with only one of the two settings", async () => {
    const config = completeConfig({ audit_export_identity: target.settings.audit_export_identity });
    const { log } = server.running;
    await expect(
      openDestinations({
        cleanup: new Cleanup(log),
        config,
        database: server.database,
        otherServers: () => [],
        serverId: "none",
        log,
      }),
    ).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining("audit_export_role_arn") as unknown,
    });
  });
});
