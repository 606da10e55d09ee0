import type { Database } from "@shoal/database";
import type { AuditLogVerification } from "@shoal/schemas";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { completeConfig } from "../../config/config.ts";
import type { Settings } from "../../config/settings.ts";
import { startServer } from "../../main/server.ts";
import { createSecrets } from "../../storage/secrets.ts";
import { auditNote } from "../../testing/audit-note.ts";
import { inTwoYears } from "../../testing/in-two-years.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import { unlimited } from "../../testing/unlimited.ts";
import { AuditChain } from "./chain.ts";

const dayMs = 86_400_000;

describe("the chain", () => {
  const secretKey = "the same secret on every server";
  let own: TestServer;
  let database: Database;
  beforeAll(async () => {
    own = await startTestServer({ secret_key: secretKey });
    ({ database } = own);
    for (let index = 0; index < 5; index += 1)
      await own.request("POST", "/profiles", { body: { name: `p${String(index)}` } });
  });
  afterAll(() => own.close());
  const check = async (head?: string) =>
    (await own.request("GET", `/audit-logs/verify${head === undefined ? "" : `?known_head=${head}`}`))
      .body as AuditLogVerification;

  const checkAt = async (baseUrl: string) =>
    (await (
      await fetch(`${baseUrl}/audit-logs/verify`, { headers: { authorization: `Bearer ${own.key}` } })
    ).json()) as AuditLogVerification;
  const startSecond = (settings: Settings = {}) =>
    startServer(
      completeConfig({
        data_dir: join(own.dataDir, "..", "second"),
        secret_key: secretKey,
        port: 0,
        placement: "process",
        warm: 0,
        log_level: "silent",
        ...unlimited,
        ...settings,
      }),
      { database: { ...database, close: () => Promise.resolve() } },
    );

  /** Applies `harm`, verifies the chain, and restores the rows. */
  async function tampered(harm: () => Promise<unknown>, head?: string): Promise<AuditLogVerification> {
    const rows = await database.query.selectFrom("audit_logs").selectAll().execute();
    const ends = await database.query.selectFrom("audit_chain").selectAll().executeTakeFirstOrThrow();
    await harm();
    const found = await check(head);
    await database.query.deleteFrom("audit_logs").execute();
    await database.query.insertInto("audit_logs").values(rows).execute();
    await database.query.deleteFrom("audit_chain").execute();
    await database.query.insertInto("audit_chain").values(ends).execute();
    return found;
  }

  it("is valid, and returns its head", async () => {
    const found = await check();
    // The first entry is by the admin key.
    expect(found).toMatchObject({
      valid: true,
      entries: 6,
      head: expect.stringMatching(/^6:[0-9a-f]{64}$/) as unknown,
    });
    await own.request("POST", "/profiles", { body: {} });
    expect(await check(found.head)).toMatchObject({ valid: true, entries: 7 });
    expect(await check(`3:${"0".repeat(64)}`)).toMatchObject({
      valid: false,
      problem: { kind: "known_head", sequence: 3 },
    });
    expect(await check(`99:${"0".repeat(64)}`)).toMatchObject({ valid: false, problem: { kind: "known_head" } });
    expect((await own.request("GET", "/audit-logs/verify?known_head=5")).status).toBe(400);
  });

  it.each<[string, () => Promise<unknown>, object]>([
    [
      "a changed field",
      () =>
        database.query.updateTable("audit_logs").set({ user_id: "somebody else" }).where("sequence", "=", 3).execute(),
      { kind: "changed", sequence: 3 },
    ],
    [
      "a changed moment",
      () =>
        database.query
          .updateTable("audit_logs")
          .set({ at: "2020-01-01T00:00:00.000Z" })
          .where("sequence", "=", 2)
          .execute(),
      { kind: "changed", sequence: 2 },
    ],
    [
      "a removed entry",
      () => database.query.deleteFrom("audit_logs").where("sequence", "=", 3).execute(),
      { kind: "missing", sequence: 3 },
    ],
    [
      "removed first entries",
      () => database.query.deleteFrom("audit_logs").where("sequence", "<", 3).execute(),
      { kind: "missing", sequence: 1 },
    ],
    [
      "removed last entries",
      () => database.query.deleteFrom("audit_logs").where("sequence", ">", 4).execute(),
      { kind: "missing", sequence: 5 },
    ],
    ["an emptied log", () => database.query.deleteFrom("audit_logs").execute(), { kind: "missing", sequence: 1 }],
    [
      "an end that was set back",
      async () => {
        await database.query.deleteFrom("audit_logs").where("sequence", ">", 4).execute();
        const last = await database.query
          .selectFrom("audit_logs")
          .select("hash")
          .where("sequence", "=", 4)
          .executeTakeFirstOrThrow();
        await database.query.updateTable("audit_chain").set({ last_sequence: 4, last_hash: last.hash }).execute();
      },
      { kind: "head", sequence: 5 },
    ],
    [
      "a forged chain",
      async () => {
        await database.query.deleteFrom("audit_logs").execute();
        await database.query
          .updateTable("audit_chain")
          .set({ last_sequence: 0, last_hash: Buffer.alloc(32) })
          .execute();
        await new AuditChain(database, { secrets: createSecrets("another secret, as the first is unknown") }).append([
          auditNote(),
        ]);
      },
      { kind: "head", sequence: 1 },
    ],
    [
      "a false end, although the service went on writing behind it",
      async () => {
        await database.query.deleteFrom("audit_logs").where("sequence", ">", 4).execute();
        const last = await database.query
          .selectFrom("audit_logs")
          .select("hash")
          .where("sequence", "=", 4)
          .executeTakeFirstOrThrow();
        await database.query.updateTable("audit_chain").set({ last_sequence: 4, last_hash: last.hash }).execute();
        await new AuditChain(database, { secrets: createSecrets(secretKey) }).append([auditNote()]);
        await new AuditChain(database, { secrets: createSecrets(secretKey) }).append([auditNote()]);
      },
      { kind: "head", sequence: 5 },
    ],
    [
      "a log that was emptied, with ends as if it had never been written",
      async () => {
        await database.query.deleteFrom("audit_logs").execute();
        await database.query
          .updateTable("audit_chain")
          .set({
            first_sequence: 1,
            last_sequence: 0,
            last_hash: Buffer.alloc(32),
            first_previous_hash: Buffer.alloc(32),
            seal: null,
            broken_at: null,
          })
          .execute();
      },
      { kind: "truncated", sequence: 7 },
    ],
    [
      "that the ends of the log were removed",
      () => database.query.deleteFrom("audit_chain").execute(),
      { kind: "head", sequence: 0 },
    ],
    [
      "that everything was removed, although the service went on writing behind it",
      async () => {
        await database.query.deleteFrom("audit_logs").execute();
        await database.query.deleteFrom("audit_chain").execute();
        for (let index = 0; index < 9; index += 1) await own.request("POST", "/profiles", { body: {} });
      },
      { kind: "head", sequence: 1 },
    ],
  ])("shows %s", async (_what, harm, problem) => {
    expect(await tampered(harm)).toMatchObject({ valid: false, problem });
    expect(await check()).toMatchObject({ valid: true });
  });

  it("keeps its entries on a server whose clock is ahead", async () => {
    const { entries } = await check();
    expect(entries).toBeGreaterThan(0);
    await inTwoYears(() => new AuditChain(database, { secrets: createSecrets(secretKey) }).dropOlderThan(365));
    expect(await check()).toMatchObject({ valid: true, entries });
  });

  it("stays valid when retention removes old entries", async () => {
    const chain = new AuditChain(database, { secrets: createSecrets(secretKey) });
    const kept = await database.query
      .selectFrom("audit_logs")
      .select("at")
      .where("sequence", "=", 4)
      .executeTakeFirstOrThrow();
    const { entries } = await check();
    await chain.dropBefore(new Date(kept.at));
    const found = await check();
    expect(found.valid).toBe(true);
    expect(found.entries).toBeLessThan(entries);
    await chain.dropBefore(new Date(Date.now() + dayMs));
    expect(await check()).toMatchObject({ valid: true, entries: 0 });
    await own.request("POST", "/profiles", { body: {} });
    expect(await check()).toMatchObject({ valid: true, entries: 1 });
  });

  it("stays valid for a server that has not written since retention removed old entries", async () => {
    const second = await startSecond();
    await own.request("POST", "/profiles", { body: {} });
    await check();
    await new AuditChain(database, { secrets: createSecrets(secretKey) }).dropBefore(new Date(Date.now() + dayMs));
    await own.request("POST", "/profiles", { body: {} });
    for (const { baseUrl } of [own, second]) expect(await checkAt(baseUrl)).toMatchObject({ valid: true, entries: 1 });
    await second.close();
  });

  it("stays consistent when several servers write at once", async () => {
    const second = await startSecond();
    const { entries } = await check();
    const make = (baseUrl: string) =>
      fetch(`${baseUrl}/profiles`, { method: "POST", headers: { authorization: `Bearer ${own.key}` } });
    await Promise.all(Array.from({ length: 40 }, (_, index) => make(index % 2 === 0 ? own.baseUrl : second.baseUrl)));
    // The server writes pending entries before it stops.
    await second.close();
    expect(await check()).toMatchObject({ valid: true, entries: entries + 40 });
  });

  // Must be last: the first server reports the problem from now on.
  it("reports a database restored to an earlier state until an operator accepts it, and logs it", async () => {
    const second = await startSecond();
    const make = (baseUrl: string) =>
      fetch(`${baseUrl}/profiles`, { method: "POST", headers: { authorization: `Bearer ${own.key}` } });
    await make(second.baseUrl);
    const { head: before } = await checkAt(second.baseUrl);
    const rows = await database.query.selectFrom("audit_logs").selectAll().execute();
    const ends = await database.query.selectFrom("audit_chain").selectAll().executeTakeFirstOrThrow();
    for (let index = 0; index < 3; index += 1) await make(second.baseUrl);
    const { head: noted } = await checkAt(second.baseUrl);
    await second.close();
    await database.query.deleteFrom("audit_logs").where("sequence", ">", ends.last_sequence).execute();
    await database.query.updateTable("audit_chain").set(ends).execute();

    const again = await startSecond();
    const truncated = { valid: false, problem: { kind: "truncated", sequence: Number(noted.split(":")[0]) } };
    expect(await checkAt(again.baseUrl)).toMatchObject({ ...truncated, head: before, entries: rows.length });
    for (let index = 0; index < 6; index += 1) await make(again.baseUrl);
    expect(await checkAt(again.baseUrl)).toMatchObject(truncated);
    await again.close();

    const accepted = await startSecond({ accept_audit_head: true });
    const found = await checkAt(accepted.baseUrl);
    expect(found).toMatchObject({ valid: true, entries: rows.length + 7 });
    const last = await database.query
      .selectFrom("audit_logs")
      .selectAll()
      .orderBy("sequence", "desc")
      .executeTakeFirstOrThrow();
    expect(last).toMatchObject({
      operation: "auditLogs.acceptHead",
      auth_strategy: "service",
      path: `/audit-logs/accepted-heads/${noted}`,
    });
    await accepted.close();

    // A file that was changed, or sealed with another secret, does not count as the first start.
    writeFileSync(join(own.dataDir, "..", "second", "audit-head"), `1:${"0".repeat(64)}.${"A".repeat(43)}\n`);
    const damaged = await startSecond();
    expect(await checkAt(damaged.baseUrl)).toMatchObject({ valid: false, problem: { kind: "head", sequence: 0 } });
    await damaged.close();
  });
});
