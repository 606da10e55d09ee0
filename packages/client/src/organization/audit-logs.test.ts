import type { contract } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { AuditLogEntry } from "@shoal/schemas";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { ContractError, Shoal, type AuditLogProgress } from "../index.ts";
import { startPartialService, type PartialService } from "../node/testing/partial-service.ts";

const window = { start: "2026-01-01T00:00:00Z", end: "2026-01-31T00:00:00Z" };
const entry = (id: number): AuditLogEntry => ({
  timestamp: "2026-01-02T00:00:00.000Z",
  auth_strategy: "api_key",
  user_id: `u${id}`,
  email: "",
  status: 200,
  method: "POST",
  path: "/browsers",
  route: "/browsers",
  domain: "localhost",
  duration_ms: 3,
  client_ip: "127.0.0.1",
  user_agent: "test",
});
const total = 5;
const lineOf = (id: number) => `${JSON.stringify(entry(id))}\n`;
const auditLogsOf = (service: PartialService) =>
  new Shoal({ apiKey: "sk_secret_0123456789", baseUrl: service.baseUrl }).auditLogs;
const bytesOf = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) =>
  Buffer.from(await new Response(stream).arrayBuffer());

type ChunkHandler = Handlers<typeof contract>["exportAuditLogsChunk"];
/** `spoil` may change the response. */
const chunks =
  (
    spoil: (headers: Record<string, string>, bytes: Buffer, at: number) => Buffer = (_headers, bytes) => bytes,
  ): ChunkHandler =>
  ({ query }) => {
    const at = Number(query.cursor ?? 0);
    const ids = Array.from({ length: Math.min(query.limit, total - at) }, (_, index) => at + index);
    const text = ids.map(lineOf).join("");
    const bytes = query.format === "jsonl" ? Buffer.from(text) : gzipSync(text);
    const more = at + ids.length < total;
    const headers = {
      "x-has-more": String(more),
      "x-row-count": String(ids.length),
      "x-content-sha256": createHash("sha256").update(bytes).digest("hex"),
      ...(more && { "x-next-cursor": String(at + ids.length) }),
    };
    const sent = spoil(headers, bytes, at);
    return { stream: Readable.from([sent]), headers };
  };

describe("auditLogs.list", () => {
  it("reads all pages by their tokens", async () => {
    await using service = await startPartialService({
      listAuditLogs: ({ query }) => {
        const at = Number(query.page_token?.slice(1) ?? 0);
        const items = Array.from({ length: Math.min(query.limit, total - at) }, (_, index) => entry(at + index));
        const next = at + items.length;
        return { items, nextPageToken: next < total ? `t${next}` : undefined };
      },
    });
    const page = await auditLogsOf(service).list({ ...window, limit: 2, exclude_method: ["GET", "HEAD"] });
    expect([page.items.length, page.hasMore, page.nextPageToken]).toEqual([2, true, "t2"]);
    const users: string[] = [];
    for await (const { user_id } of page) users.push(user_id);
    expect(users).toEqual(["u0", "u1", "u2", "u3", "u4"]);
    expect(
      service.requests.map(({ line }) =>
        new URL(line.slice("GET ".length), "http://x").searchParams.get("exclude_method"),
      ),
    ).toEqual(Array.from({ length: 3 }, () => "GET,HEAD"));
  });
});

describe("auditLogs.download", () => {
  it("is one gzip file of all chunks, and reports progress", async () => {
    await using service = await startPartialService({ exportAuditLogsChunk: chunks() });
    const seen: AuditLogProgress[] = [];
    const file = await bytesOf(
      auditLogsOf(service).download({ ...window, limit: 2 }, { onProgress: (progress) => seen.push(progress) }),
    );
    expect(gunzipSync(file).toString()).toBe([0, 1, 2, 3, 4].map(lineOf).join(""));
    expect(seen.map(({ chunks: count, rows }) => [count, rows])).toEqual([
      [1, 2],
      [2, 4],
      [3, 5],
    ]);
    expect(seen.at(-1)?.receivedBytes).toBe(file.length);
  });

  it("can be written to a file while it arrives", async () => {
    await using service = await startPartialService({ exportAuditLogsChunk: chunks() });
    const folder = await mkdtemp(join(tmpdir(), "shoal-audit-"));
    try {
      const path = join(folder, "audit.jsonl.gz");
      await writeFile(path, auditLogsOf(service).download({ ...window, limit: 1 }));
      expect(gunzipSync(await readFile(path)).toString()).toBe([0, 1, 2, 3, 4].map(lineOf).join(""));
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('contains plain lines with format: "jsonl", and fetches chunks on demand', async () => {
    await using service = await startPartialService({ exportAuditLogsChunk: chunks() });
    const stream = auditLogsOf(service).download({ ...window, limit: 2, format: "jsonl" });
    const reader = stream.getReader();
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe(lineOf(0) + lineOf(1));
    expect(service.requests).toHaveLength(1);
    await reader.cancel();
    expect(service.requests).toHaveLength(1);
  });

  it("fetches a chunk again when its SHA-256 differs", async () => {
    let spoiled = 0;
    const spoil = (_headers: Record<string, string>, bytes: Buffer, at: number) =>
      at === 2 && spoiled++ === 0 ? Buffer.concat([bytes.subarray(1), bytes.subarray(0, 1)]) : bytes;
    await using service = await startPartialService({ exportAuditLogsChunk: chunks(spoil) });
    expect(gunzipSync(await bytesOf(auditLogsOf(service).download({ ...window, limit: 2 }))).toString()).toContain(
      lineOf(4),
    );
    expect(service.requests).toHaveLength(4);
  });

  it("fetches a chunk again when its connection breaks", async () => {
    let broken = 0;
    const whole = chunks();
    await using service = await startPartialService({
      exportAuditLogsChunk: async (call) => {
        const reply = await whole(call);
        if (call.query.cursor !== "4" || broken++ > 0 || !("stream" in reply)) return reply;
        return { ...reply, stream: Readable.from([Buffer.from("begun")]), sizeBytes: 100 };
      },
    });
    expect(gunzipSync(await bytesOf(auditLogsOf(service).download({ ...window, limit: 2 }))).toString()).toContain(
      lineOf(4),
    );
    expect(broken).toBe(2);
  });

  it.each([
    ["x-has-more", (headers: Record<string, string>) => (headers["x-has-more"] = "yes")],
    ["x-row-count", (headers: Record<string, string>) => (headers["x-row-count"] = "50001")],
    ["x-content-sha256", (headers: Record<string, string>) => delete headers["x-content-sha256"]],
    ["x-next-cursor", (headers: Record<string, string>) => delete headers["x-next-cursor"]],
    [
      "x-next-cursor",
      (headers: Record<string, string>) => ((headers["x-has-more"] = "true"), (headers["x-next-cursor"] = "2")),
    ],
    ["x-next-cursor", (headers: Record<string, string>) => (headers["x-has-more"] = "false")],
  ])("fails for an invalid header: %s", async (header, change) => {
    const spoil = (headers: Record<string, string>, bytes: Buffer) => {
      change(headers);
      return bytes;
    };
    await using service = await startPartialService({ exportAuditLogsChunk: chunks(spoil) });
    const error: unknown = await bytesOf(auditLogsOf(service).download({ ...window, limit: 2 })).catch(
      (reason: unknown) => reason,
    );
    expect(ContractError.isInstance(error) && error.path).toBe(`headers.${header}`);
  });

  it("fails with the errors of a call", async () => {
    await using service = await startPartialService({ exportAuditLogsChunk: chunks() });
    const { auditLogs } = new Shoal({ apiKey: "sk_secret_0123456789", baseUrl: service.baseUrl });
    await expect(bytesOf(auditLogs.download({ start: window.end, end: window.start }))).rejects.toMatchObject({
      status: 400,
      message: "query.end: must be later than start",
    });
    await expect(
      bytesOf(auditLogs.download({ start: window.start, end: "2026-01-31T00:00:01Z" })),
    ).rejects.toMatchObject({
      status: 400,
      message: "query.end: must be at most 30 days after start",
    });
  });

  it("ends with the signal", async () => {
    await using service = await startPartialService({ exportAuditLogsChunk: chunks() });
    const stop = new AbortController();
    const reader = auditLogsOf(service)
      .download({ ...window, limit: 2 }, { signal: stop.signal })
      .getReader();
    await reader.read();
    stop.abort(new Error("enough"));
    await expect(reader.read()).rejects.toThrow("enough");
  });
});
