import { type Database } from "@shoal/database";
import { AuditLogEntry, type AuditLogVerification } from "@shoal/schemas";
import fc from "fast-check";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createId } from "@shoal/primitives";
import { createLog } from "../../log/log.ts";
import { completeConfig } from "../../../config/config.ts";
import type { Settings } from "../../../config/settings.ts";
import { createSecrets } from "../../../storage/secrets.ts";
import { startServer } from "../../../main/server.ts";
import { startTestServer, type TestRequest, type TestServer } from "../../../testing/test-server.ts";
import { unlimited } from "../../../testing/unlimited.ts";
import { createAuditChain } from "./chain.ts";
import { type AuditNote, hashOf } from "./entry.ts";
import { AuditRecorder } from "./recorder.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.close());

const dayMs = 86_400_000;
const window = (from = -1, to = 1, nowMs = Date.now()) =>
  `start=${new Date(nowMs + from * dayMs).toISOString()}&end=${new Date(nowMs + to * dayMs).toISOString()}`;

async function list(filter = "", request?: TestRequest): Promise<AuditLogEntry[]> {
  const reply = await server.request("GET", `/audit-logs?${window()}&${filter}`, request);
  expect(reply.status).toBe(200);
  return (reply.body as unknown[]).map((entry) => AuditLogEntry.parse(entry));
}

function note(changes: Partial<AuditNote> = {}): AuditNote {
  return {
    id: createId(),
    at: new Date().toISOString(),
    project_id: null,
    auth_strategy: "api_key",
    user_id: "u",
    email: "u@localhost",
    method: "POST",
    path: "/x",
    route: "/x",
    operation: "x.create",
    status: 200,
    duration_ms: 1,
    domain: "localhost",
    client_ip: "127.0.0.1",
    user_agent: "test",
    request_id: "r",
    ...changes,
  };
}

describe("an entry", () => {
  it("contains caller, operation, address, request and outcome", async () => {
    const { id, key } = await server.addProject("who");
    const reply = await server.request("POST", "/profiles?", {
      key,
      body: { name: "audited" },
      headers: { "user-agent": "agent/1" },
    });
    const [entry] = await list("search=/profiles&limit=1");
    expect(entry).toMatchObject({
      auth_strategy: "api_key",
      email: "test@localhost",
      status: 201,
      method: "POST",
      path: "/profiles",
      route: "/profiles",
      operation: "profiles.create",
      domain: new URL(server.baseUrl).host,
      client_ip: "127.0.0.1",
      user_agent: "agent/1",
      request_id: reply.headers.get("x-request-id"),
      project_id: id,
    });
    expect(Math.abs(Date.parse(entry?.timestamp ?? "") - Date.now())).toBeLessThan(10_000);
  });

  it("is written for rejected changes, not for reads", async () => {
    const before = (await list()).length;
    await server.request("GET", "/profiles");
    await server.request("GET", "/profiles/nothing");
    await server.request("POST", "/profiles", { key: null });
    expect((await server.request("DELETE", "/profiles/nothing-here?token=secret")).status).toBe(404);
    const entries = await list();
    expect(entries).toHaveLength(before + 1);
    expect(entries[0]).toMatchObject({
      method: "DELETE",
      path: "/profiles/nothing-here",
      route: "/profiles/{id_or_name}",
      status: 404,
    });
    expect(JSON.stringify(entries)).not.toContain("secret");
  });

  it("is written for operations inside the instance as well", async () => {
    await server.request("POST", "/browsers/none/process/exec", { body: { command: "true" } });
    expect((await list("service=browsers&limit=1"))[0]).toMatchObject({
      operation: "browsers.process.exec",
      status: 404,
      path: "/browsers/none/process/exec",
    });
  });
});

describe("reading", () => {
  it("supports every filter", async () => {
    await server.request("PATCH", "/org/limits", { body: { default_project_max_concurrent_sessions: null } });
    const [{ user_id } = { user_id: "" }] = await list("method=patch&limit=1");
    const methods = async (filter: string) => [...new Set((await list(filter)).map(({ method }) => method))].sort();
    expect(await methods("method=PATCH")).toEqual(["PATCH"]);
    expect(await methods("exclude_method=post,DELETE")).toEqual(["PATCH"]);
    expect(await methods("service=organization")).toEqual(["PATCH"]);
    expect((await list("auth_strategy=oauth")).length).toBe(0);
    expect((await list("auth_strategy=api_key&service=organization")).length).toBe(1);
    for (const search of ["/ORG/limits", user_id, "admin@", "127.0.0", "200"])
      expect((await list(`search=${search}`)).map(({ path }) => path)).toContain("/org/limits");
    // Parts of a status must not match. An id contains digits too: use a part that this id does not contain.
    const part = ["20", "00"].find((digits) => !user_id.includes(digits)) ?? "%";
    for (const search of [part, "%", "_", "nothing", "%00"])
      expect((await list(`search=${encodeURIComponent(search)}`)).map(({ path }) => path)).not.toContain("/org/limits");
    expect((await list(`search=nothing&search_user_id=x,${user_id}`)).every((entry) => entry.user_id === user_id)).toBe(
      true,
    );
    expect((await list(`search_user_id=${user_id}`)).length).toBeGreaterThan(0);
    expect((await server.request("GET", `/audit-logs?${window(-2, -1)}`)).body).toEqual([]);
  });

  it.each([
    ["no start", `end=${new Date().toISOString()}`, "query.start"],
    ["an end before the start", window(1, -1), "query.end"],
    ["more than 30 days", window(-15.1, 15), "query.end"],
    ["a limit of 0", `${window()}&limit=0`, "query.limit"],
    ["a limit of 101", `${window()}&limit=101`, "query.limit"],
    ["an invalid page token", `${window()}&page_token=abc`, "query.page_token"],
    [
      "11 methods",
      `${window()}&exclude_method=${Array.from({ length: 11 }, () => "GET").join(",")}`,
      "query.exclude_method",
    ],
  ])("rejects %s", async (_what, query, field) => {
    expect((await server.request("GET", `/audit-logs?${query}`)).body).toMatchObject({
      code: "bad_request",
      message: expect.stringContaining(field) as unknown,
    });
  });

  it("accepts 30 days", async () => {
    expect((await server.request("GET", `/audit-logs?${window(-15, 15)}`)).status).toBe(200);
  });

  it("limits the key of a project to entries of that project", async () => {
    const [one, other] = [await server.addProject("one"), await server.addProject("other")];
    for (const { key } of [one, other]) await server.request("POST", "/profiles", { key, body: {} });
    const seen = await list("", { key: one.key });
    expect(seen.map(({ project_id }) => project_id)).toEqual([one.id]);
    const chunk = await fetch(`${server.baseUrl}/audit-logs/export/chunk?${window()}&format=jsonl`, {
      headers: { authorization: `Bearer ${other.key}` },
    });
    expect(await chunk.text()).not.toContain(one.id);
    expect((await server.request("GET", "/audit-logs/verify", { key: one.key })).status).toBe(403);
  });
});

describe("pages and chunks", () => {
  const moment = "2020-01-01T00:00:00.000Z";
  const past = `start=2019-12-31T00:00:00Z&end=2020-01-02T00:00:00Z`;
  let chain: ReturnType<typeof createAuditChain>;
  beforeAll(async () => {
    chain = createAuditChain(server.database, { secrets: createSecrets("x".repeat(32)) });
    // Many entries in one millisecond: only the sequence orders them.
    await chain.append(
      Array.from({ length: 57 }, (_, index) =>
        note({
          at: index % 3 === 0 ? moment : new Date(Date.parse(moment) + index).toISOString(),
          path: `/${String(index)}`,
        }),
      ),
    );
  });

  async function pages(limit: number): Promise<string[]> {
    const paths: string[] = [];
    for (let token: string | null = ""; token !== null;) {
      const reply = await server.request(
        "GET",
        `/audit-logs?${past}&limit=${String(limit)}${token === "" ? "" : `&page_token=${token}`}`,
      );
      paths.push(...(reply.body as AuditLogEntry[]).map(({ path }) => path));
      token = reply.headers.get("x-next-page-token");
      expect(reply.headers.get("x-has-more")).toBe(String(token !== null));
      await chain.append([note({ at: new Date(Date.parse(moment) + 1000).toISOString(), path: "/new" })]);
    }
    return paths;
  }

  it("return every entry once, newest first, with any page size and concurrent writes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 5, max: 60 }), async (limit) => {
        const paths = (await pages(limit)).filter((path) => path !== "/new");
        expect([...paths].sort()).toEqual(Array.from({ length: 57 }, (_, index) => `/${String(index)}`).sort());
        expect(paths[0]).toBe("/56");
      }),
      { numRuns: 5 },
    );
  });

  async function chunks(query: string): Promise<{ bytes: Buffer; count: number }> {
    const parts: Buffer[] = [];
    const cursors = new Set<string>();
    for (let cursor: string | null = ""; cursor !== null;) {
      const reply: Response = await fetch(
        `${server.baseUrl}/audit-logs/export/chunk?${past}&${query}${cursor === "" ? "" : `&cursor=${cursor}`}`,
        {
          headers: { authorization: `Bearer ${server.key}` },
        },
      );
      const bytes = Buffer.from(await reply.arrayBuffer());
      expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "application/octet-stream"]);
      expect(reply.headers.get("x-content-sha256")).toBe(createHash("sha256").update(bytes).digest("hex"));
      parts.push(bytes);
      cursor = reply.headers.get("x-next-cursor");
      expect(reply.headers.get("x-has-more")).toBe(String(cursor !== null));
      expect(cursors.has(cursor ?? "")).toBe(false);
      cursors.add(cursor ?? "");
    }
    return { bytes: Buffer.concat(parts), count: parts.length };
  }

  it("are exported completely, and concatenate to one gzip file", async () => {
    const plain = await chunks("format=jsonl&search=/1");
    const zipped = await chunks("search=/1&limit=3");
    expect(plain.count).toBe(1);
    expect(zipped.count).toBe(4);
    expect(gunzipSync(zipped.bytes).toString()).toBe(plain.bytes.toString());
    const lines = plain.bytes
      .toString()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as AuditLogEntry & { previous_hash: string; hash: string });
    expect(lines).toHaveLength(11);
    // The export is sufficient to verify each line.
    for (const {
      event_id = "",
      hash,
      previous_hash,
      project_id = null,
      request_id = "",
      operation = "",
      sequence = 0,
      timestamp,
      ...rest
    } of lines) {
      expect(
        hashOf(Buffer.from(previous_hash, "hex"), {
          ...rest,
          id: event_id,
          at: timestamp,
          project_id,
          operation,
          request_id,
          sequence,
        }).toString("hex"),
      ).toBe(hash);
    }
  });

  it("are empty gzip files without entries", async () => {
    const reply = await fetch(
      `${server.baseUrl}/audit-logs/export/chunk?start=2018-01-01T00:00:00Z&end=2018-01-02T00:00:00Z`,
      {
        headers: { authorization: `Bearer ${server.key}` },
      },
    );
    expect([
      reply.headers.get("x-row-count"),
      reply.headers.get("x-has-more"),
      reply.headers.get("x-next-cursor"),
    ]).toEqual(["0", "false", null]);
    expect(gunzipSync(Buffer.from(await reply.arrayBuffer())).length).toBe(0);
  });
});

// On a separate service: these tests damage the log.
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
        await createAuditChain(database, { secrets: createSecrets("another secret, as the first is unknown") }).append([
          note(),
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
        await createAuditChain(database, { secrets: createSecrets(secretKey) }).append([note()]);
        await createAuditChain(database, { secrets: createSecrets(secretKey) }).append([note()]);
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

  it("stays valid when retention removes old entries", async () => {
    const chain = createAuditChain(database, { secrets: createSecrets(secretKey) });
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
    await createAuditChain(database, { secrets: createSecrets(secretKey) }).dropBefore(new Date(Date.now() + dayMs));
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

describe("the recorder", () => {
  it("buffers entries while the database is unavailable, and writes them later", async () => {
    const written: AuditNote[] = [];
    let isAway = true;
    const log = await createLog(completeConfig({ data_dir: "/nowhere", log_level: "silent" }));
    const recorder = new AuditRecorder(
      {
        append: (notes) => {
          if (isAway) return Promise.reject(new Error("away"));
          written.push(...notes);
          return Promise.resolve();
        },
      },
      log,
    );
    const notes = Array.from({ length: 2500 }, () => note());
    for (const one of notes) recorder.note(one);
    await recorder.flush();
    expect(written).toEqual([]);
    isAway = false;
    await vi.waitFor(
      () => {
        expect(written).toEqual(notes);
      },
      { timeout: 15_000 },
    );
    recorder.note(note({ id: "last" }));
    await recorder.close();
    expect(written.at(-1)?.id).toBe("last");
  });
});
