import type { TokenPage } from "@shoal/contract";
import type { AuditLogsTable, Database } from "@shoal/database";
import { badInput, type BytesReply } from "@shoal/router";
import type { AuditLogEntry, AuditLogVerification, ExportAuditLogs, ListAuditLogs, VerifyAuditLogs } from "@shoal/schemas";
import { type Selectable, sql } from "kysely";
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type * as z from "zod/mini";
import type { KeyRow } from "../auth/access.ts";
import { containing } from "../like.ts";
import { isStorable } from "../paging.ts";
import { refuseProjectKey } from "../projects/projects.ts";
import type { AuditChain } from "./chain.ts";
import type { AuditRecorder } from "./recorder.ts";

/** The audit log as it is read. A project's key sees what was done in that project only. */
export interface AuditLogs {
  list(caller: KeyRow, filter: z.output<typeof ListAuditLogs>): Promise<TokenPage<AuditLogEntry>>;
  exportChunk(caller: KeyRow, filter: z.output<typeof ExportAuditLogs>): Promise<BytesReply>;
  verify(caller: KeyRow, request: z.output<typeof VerifyAuditLogs>): Promise<AuditLogVerification>;
}

/** An entry as it is kept. */
export type AuditLogRow = Selectable<AuditLogsTable>;
type Row = AuditLogRow;
type Filter = Omit<z.output<typeof ListAuditLogs>, "limit" | "page_token">;

/** Where a page ends: its last entry. */
interface Place {
  readonly at: string;
  readonly sequence: number;
}

const compress = promisify(gzip);
/** Rows that are read for an export at a time. */
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

/** An exported line, with its end of line. It says more, so that the chain can be checked without the service. */
export function toLine(row: Row): string {
  return `${JSON.stringify({ ...toEntry(row), previous_hash: row.previous_hash.toString("hex"), hash: row.hash.toString("hex") })}\n`;
}

function tokenOf({ at, sequence }: Place): string {
  return Buffer.from(`${at} ${String(sequence)}`).toString("base64url");
}

function placeOf(token: string | undefined, field: string): Place | undefined {
  if (token === undefined) return undefined;
  const [, at, sequence] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (\d{1,15})$/.exec(Buffer.from(token, "base64url").toString()) ?? [];
  if (at === undefined || sequence === undefined || Number.isNaN(Date.parse(at))) {
    throw badInput(`query.${field}: expected what the page before told; begin again without it`);
  }
  return { at, sequence: Number(sequence) };
}

export function createAuditLogs(parts: { readonly database: Database; readonly chain: AuditChain; readonly recorder: AuditRecorder }): AuditLogs {
  const { chain, recorder } = parts;
  const { query } = parts.database;

  /** Newest first, behind a place. */
  async function read(caller: KeyRow, filter: Filter, after: Place | undefined, count: number): Promise<Row[]> {
    const { search, search_user_id: users = [], exclude_method: excluded = [] } = filter;
    if (![search, filter.method, filter.auth_strategy, filter.service, ...users, ...excluded].every(isStorable)) return [];
    let rows = query
      .selectFrom("audit_logs")
      .selectAll()
      .where("at", ">=", new Date(filter.start).toISOString())
      .where("at", "<", new Date(filter.end).toISOString());
    if (caller.project_id !== null) rows = rows.where("project_id", "=", caller.project_id);
    if (filter.auth_strategy !== undefined) rows = rows.where("auth_strategy", "=", filter.auth_strategy);
    if (filter.service !== undefined) rows = rows.where(sql<boolean>`split_part(operation, '.', 1) = ${filter.service}`);
    if (filter.method !== undefined) rows = rows.where("method", "=", filter.method.toUpperCase());
    if (excluded.length > 0) rows = rows.where(sql<boolean>`not (method = any(${excluded.map((method) => method.toUpperCase())}::text[]))`);
    if (search !== undefined || users.length > 0) {
      rows = rows.where((where) =>
        where.or([
          ...(users.length > 0 ? [sql<boolean>`user_id = any(${users}::text[])`] : []),
          ...(search === undefined
            ? []
            : [
                ...(["path", "user_id", "email", "client_ip"] as const).map((column) => where(column, "ilike", containing(search))),
                sql<boolean>`status::text = ${search}`,
              ]),
        ]),
      );
    }
    if (after !== undefined) rows = rows.where(sql<boolean>`(at, sequence) < (${after.at}::timestamptz, ${after.sequence}::bigint)`);
    return rows.orderBy("at", "desc").orderBy("sequence", "desc").limit(count).execute();
  }

  return {
    async list(caller, { limit, page_token, ...filter }) {
      const after = placeOf(page_token, "page_token");
      // What this server noted a moment ago belongs to the answer.
      await recorder.flush();
      const rows = await read(caller, filter, after, limit + 1);
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      return { items: shown.map(toEntry), nextPageToken: rows.length > limit && last !== undefined ? tokenOf(last) : undefined };
    },

    async exportChunk(caller, { cursor, format, limit, ...filter }) {
      let after = placeOf(cursor, "cursor");
      await recorder.flush();
      const lines: string[] = [];
      let hasMore = false;
      while (lines.length < limit) {
        const wanted = Math.min(exportBatch, limit - lines.length);
        const rows = await read(caller, filter, after, wanted + 1);
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
    },

    async verify(caller, { known_head }) {
      refuseProjectKey(caller, "check the audit log of the organisation");
      await recorder.flush();
      return chain.verify(known_head);
    },
  };
}
