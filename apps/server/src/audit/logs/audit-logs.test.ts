import { AuditLogEntry } from "@shoal/schemas";
import fc from "fast-check";
import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSecrets } from "../../storage/secrets.ts";
import { auditNote } from "../../testing/audit-note.ts";
import { startTestServer, type TestRequest, type TestServer } from "../../testing/test-server.ts";
import { AuditChain } from "./chain.ts";
import { hashOf } from "./entry.ts";

let server: TestServer;
beforeAll(async () => {
  // The entries of 2020 stay, whenever the job that drops old ones runs.
  server = await startTestServer({ audit_retention_days: 36_500 });
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

describe("an entry", () => {
  it("contains caller, operation, address, request and outcome", async () => {
    const { id, key } = await server.addProject("who");
    const before = Date.now();
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
    expect(Date.parse(entry?.timestamp ?? "")).toSatisfy((moment: number) => moment >= before && moment <= Date.now());
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
  let chain: AuditChain;
  beforeAll(async () => {
    chain = new AuditChain(server.database, { secrets: createSecrets("x".repeat(32)) });
    // Many entries in one millisecond: only the sequence orders them.
    await chain.append(
      Array.from({ length: 57 }, (_, index) =>
        auditNote({
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
      await chain.append([auditNote({ at: new Date(Date.parse(moment) + 1000).toISOString(), path: "/new" })]);
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
