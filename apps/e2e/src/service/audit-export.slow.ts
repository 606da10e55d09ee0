import { type AuditLogEntry, ApiError, type Shoal } from "@shoal/client";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { useBucket } from "../testing/bucket.ts";
import { missingFor } from "../testing/components.ts";
import { useService } from "../testing/service.ts";

const run = promisify(execFile);
const command = join(import.meta.dirname, "../../../cli/dist/shoal.js");

const destination = {
  type: "s3",
  format: "jsonl.gz",
  bucket: "acme-audit",
  prefix: "shoal/",
  region: "eu-central-1",
  role_arn: "arn:aws:iam::123456789012:role/shoal-audit",
} as const;

async function whole(shoal: Shoal): Promise<AuditLogEntry[]> {
  const entries: AuditLogEntry[] = [];
  for await (const entry of await shoal.auditLogs.list({
    start: new Date(Date.now() - 3_600_000).toISOString(),
    end: new Date(Date.now() + 3_600_000).toISOString(),
  }))
    entries.push(entry);
  return entries.reverse();
}

describe.skipIf(missingFor("process"))("exports of the audit log", () => {
  const bucket = useBucket();
  const test = useService(() => ["--placement", "process", ...bucket.flags()]);
  const shoal = async (...args: string[]) =>
    (
      await run(process.execPath, [command, "audit-logs", "export", ...args], {
        env: {
          ...process.env,
          SHOAL_API_KEY: test.service.apiKey,
          SHOAL_BASE_URL: test.service.baseUrl,
          SHOAL_KEYCHAIN: "0",
          NO_COLOR: "1",
        },
      })
    ).stdout;

  it("reach the bucket from the client and the command line, and match the list", async () => {
    const { exportDestinations } = test.shoal.auditLogs;
    const { id, ...made } = await exportDestinations.create(destination);
    expect(made).toMatchObject({
      ...destination,
      status: "paused",
      kernel_role_arn: "arn:aws:iam::210987654321:user/shoal",
    });
    expect(await exportDestinations.test(id)).toEqual({ success: true, stage: "complete" });
    expect(JSON.parse(await shoal("resume", id, "-o", "json"))).toMatchObject({ id, status: "active" });
    for (const name of ["one", "two"]) await test.shoal.profiles.create({ name });
    const wanted = (await whole(test.shoal)).length;
    await expect
      .poll(async () => Number((await exportDestinations.get(id)).last_exported_cursor ?? 0))
      .toBeGreaterThanOrEqual(wanted);
    expect(JSON.parse(await shoal("pause", id, "-o", "json"))).toMatchObject({ status: "paused" });
    const names = [...bucket.objects.keys()].filter((name) => name.endsWith(".gz")).sort();
    for (const name of names)
      expect(name).toMatch(/^\/acme-audit\/shoal\/\d{4}\/\d\d\/\d\d\/\d{15}-\d{15}\.jsonl\.gz$/);
    const lines = names.flatMap((name) =>
      gunzipSync(bucket.objects.get(name) ?? "")
        .toString()
        .split("\n")
        .filter((line) => line !== ""),
    );
    const exported = lines
      .map((line) => JSON.parse(line) as AuditLogEntry & { hash: string; previous_hash: string })
      .map(({ hash: _hash, previous_hash: _previous, ...entry }) => entry);
    expect(exported).toEqual((await whole(test.shoal)).slice(0, exported.length));
    expect(exported.map(({ operation }) => operation)).toEqual(
      expect.arrayContaining(["auditLogs.exportDestinations.create", "profiles.create"]),
    );

    expect((await exportDestinations.list()).items.map((each) => each.id)).toEqual([id]);
    expect(await exportDestinations.update(id, { prefix: "moved/" })).toMatchObject({
      prefix: "moved/",
      status: "paused",
    });
    await exportDestinations.delete(id);
    const error: unknown = await exportDestinations.get(id).catch((reason: unknown) => reason);
    expect(ApiError.isInstance(error) && [error.status, error.code]).toEqual([404, "not_found"]);
  });

  it("are refused for an impossible destination before any connection", async () => {
    const error: unknown = await test.shoal.auditLogs.exportDestinations
      .create({ ...destination, bucket: "evil.example/" })
      .catch((reason: unknown) => reason);
    expect(ApiError.isInstance(error) && [error.status, error.message]).toEqual([
      400,
      expect.stringContaining("bucket"),
    ]);
  });
});
