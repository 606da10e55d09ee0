import type { TokenPage } from "@shoal/contract";
import type { AuditLogsTable, Database } from "@shoal/database";
import { parseMoment } from "@shoal/primitives";
import { badInput, type BytesReply } from "@shoal/router";
import type {
  AuditLogEntry,
  AuditLogVerification,
  ExportAuditLogs,
  ListAuditLogs,
  VerifyAuditLogs,
} from "@shoal/schemas";
import { type Selectable, sql } from "kysely";
import { createHash } from "node:crypto";
import { pipeline, Readable } from "node:stream";
import { promisify } from "node:util";
import { createGzip, gzip } from "node:zlib";
import type * as z from "zod/mini";
import type { KeyRow } from "../../http/auth/access.ts";
import { containing } from "../../storage/like.ts";
import { isStorable } from "../../http/paging.ts";
import { refuseProjectKey } from "../../resources/projects/projects.ts";
import type { AuditChain } from "./chain.ts";
import type { AuditRecorder } from "./recorder.ts";

export type AuditLogRow = Selectable<AuditLogsTable>;
type Row = AuditLogRow;
type Filter = Omit<z.output<typeof ListAuditLogs>, "limit" | "page_token">;

interface Place {
  readonly at: string;
  readonly sequence: number;
}

const compress = promisify(gzip);
const exportBatch = 5000;

function toEntry(row: Row): AuditLogEntry {
  return {
    timestamp: row.at,
    auth_strategy: row.auth_strategy,
    user_id: row.user_id,
    email: row.email,
    status: row.status,
    method: row.method,
    path: row.path,
    route: row.route,
    domain: row.domain,
    duration_ms: row.duration_ms,
    client_ip: row.client_ip,
    user_agent: row.user_agent,
    event_id: row.id,
    sequence: row.sequence,
    request_id: row.request_id,
    operation: row.operation,
    ...(row.project_id !== null && { project_id: row.project_id }),
  };
}

/** The hashes allow checking the chain without the service. */
export function toLine(row: Row): string {
  return `${JSON.stringify({ ...toEntry(row), previous_hash: row.previous_hash.toString("hex"), hash: row.hash.toString("hex") })}\n`;
}

function tokenOf({ at, sequence }: Place): string {
  return Buffer.from(`${at} ${String(sequence)}`).toString("base64url");
}

function placeOf(token: string | undefined, field: string): Place | undefined {
  if (token === undefined) return undefined;
  const [, at, sequence] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (\d{1,15})$/.exec(Buffer.from(token, "base64url").toString()) ?? [];
  if (at === undefined || sequence === undefined || parseMoment(at) === undefined) {
    throw badInput(`query.${field}`, "expected the token of the previous page; start again without it");
  }
  return { at, sequence: Number(sequence) };
}

/** The key of a project sees entries of that project only. */
export class AuditLogs {
  readonly #chain: AuditChain;
  readonly #recorder: AuditRecorder;
  readonly #query: import("kysely").Kysely<import("@shoal/database").Tables>;

  constructor(parts: { readonly database: Database; readonly chain: AuditChain; readonly recorder: AuditRecorder }) {
    const { chain, recorder } = parts;
    this.#chain = chain;
    this.#recorder = recorder;
    const { query } = parts.database;
    this.#query = query;
  }

  async list(
    caller: KeyRow,
    { limit, page_token, ...filter }: z.output<typeof ListAuditLogs>,
  ): Promise<TokenPage<AuditLogEntry>> {
    const after = placeOf(page_token, "page_token");
    // The answer must include the entries that this server is about to write.
    await this.#recorder.flush();
    const rows = await this.#read(caller, filter, after, limit + 1);
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    return {
      items: shown.map(toEntry),
      nextPageToken: rows.length > limit && last !== undefined ? tokenOf(last) : undefined,
    };
  }

  async exportChunk(
    caller: KeyRow,
    { cursor, format, limit, ...filter }: z.output<typeof ExportAuditLogs>,
  ): Promise<BytesReply> {
    let after = placeOf(cursor, "cursor");
    await this.#recorder.flush();
    const lines: string[] = [];
    let hasMore = false;
    while (lines.length < limit) {
      const wanted = Math.min(exportBatch, limit - lines.length);
      const rows = await this.#read(caller, filter, after, wanted + 1);
      hasMore = rows.length > wanted;
      for (const row of rows.slice(0, wanted)) lines.push(toLine(row));
      after = rows.at(wanted - 1) ?? rows.at(-1) ?? after;
      if (!hasMore) break;
    }
    const text = Buffer.from(lines.join(""));
    const bytes = format === "jsonl.gz" ? await compress(text) : text;
    return {
      stream: Readable.from([bytes], { objectMode: false }),
      sizeBytes: bytes.length,
      fileName: `audit-logs.${format}`,
      headers: {
        "x-has-more": String(hasMore),
        "x-row-count": String(lines.length),
        "x-content-sha256": createHash("sha256").update(bytes).digest("hex"),
        ...(hasMore && after !== undefined && { "x-next-cursor": tokenOf(after) }),
      },
    };
  }

  /** Reads the first entries before the answer begins, so that their errors have a status. */
  async exportFile(
    caller: KeyRow,
    { cursor, format, limit, ...filter }: z.output<typeof ExportAuditLogs>,
  ): Promise<BytesReply> {
    const batch = Math.min(exportBatch, limit);
    const read = (after: Place | undefined) => this.#read(caller, filter, after, batch);
    await this.#recorder.flush();
    const first = await read(placeOf(cursor, "cursor"));
    async function* texts(): AsyncGenerator<string> {
      for (let rows = first; rows.length > 0; rows = await read(rows.at(-1))) {
        yield rows.map(toLine).join("");
        if (rows.length < batch) return;
      }
    }
    const lines = Readable.from(texts(), { objectMode: false });
    return {
      // A failure destroys the compressed stream, and with it the connection: the person sees an incomplete download.
      stream: format === "jsonl.gz" ? pipeline(lines, createGzip(), () => undefined) : lines,
      fileName: `audit-logs.${format}`,
    };
  }

  async verify(caller: KeyRow, { known_head }: z.output<typeof VerifyAuditLogs>): Promise<AuditLogVerification> {
    refuseProjectKey(caller, "check the audit log of the organisation");
    await this.#recorder.flush();
    return this.#chain.verify(known_head);
  }

  /** Newest first. */
  async #read(caller: KeyRow, filter: Filter, after: Place | undefined, count: number): Promise<Row[]> {
    const { search, search_user_id: users = [], exclude_method: excluded = [] } = filter;
    if (![search, filter.method, filter.auth_strategy, filter.service, ...users, ...excluded].every(isStorable))
      return [];
    let rows = this.#query
      .selectFrom("audit_logs")
      .selectAll()
      .where("at", ">=", new Date(filter.start).toISOString())
      .where("at", "<", new Date(filter.end).toISOString());
    if (caller.project_id !== null) rows = rows.where("project_id", "=", caller.project_id);
    if (filter.auth_strategy !== undefined) rows = rows.where("auth_strategy", "=", filter.auth_strategy);
    if (filter.service !== undefined)
      rows = rows.where(sql<boolean>`split_part(operation, '.', 1) = ${filter.service}`);
    if (filter.method !== undefined) rows = rows.where("method", "=", filter.method.toUpperCase());
    if (excluded.length > 0)
      rows = rows.where(sql<boolean>`not (method = any(${excluded.map((method) => method.toUpperCase())}::text[]))`);
    if (search !== undefined || users.length > 0) {
      rows = rows.where((where) =>
        where.or([
          ...(users.length > 0 ? [sql<boolean>`user_id = any(${users}::text[])`] : []),
          ...(search === undefined
            ? []
            : [
                ...(["path", "user_id", "email", "client_ip"] as const).map((column) =>
                  where(column, "ilike", containing(search)),
                ),
                sql<boolean>`status::text = ${search}`,
              ]),
        ]),
      );
    }
    if (after !== undefined)
      rows = rows.where(sql<boolean>`(at, sequence) < (${after.at}::timestamptz, ${after.sequence}::bigint)`);
    return rows.orderBy("at", "desc").orderBy("sequence", "desc").limit(count).execute();
  }
}
