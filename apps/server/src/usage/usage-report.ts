import type { Page } from "@shoal/contract";
import { projectNotFound } from "@shoal/contract/refusals";
import type { Database, Tables } from "@shoal/database";
import { type BytesReply, ServiceError } from "@shoal/router";
import type { ExportUsage, ListUsage, UsageRow } from "@shoal/schemas";
import { type Kysely, sql } from "kysely";
import { Readable } from "node:stream";
import type * as z from "zod/mini";
import type { Access } from "../http/auth/access.ts";
import { emptyPage, isStorable, toPage } from "../http/paging.ts";
import { csvHead, csvLine } from "./usage-csv.ts";

export type UsageCaller = Pick<Access, "key" | "namedProjectId">;
type Filter = Omit<z.output<typeof ExportUsage>, "format">;
type Group = Filter["group_by"];

interface Row {
  readonly date: string;
  readonly project_id: string;
  readonly project_name: string | null;
  readonly api_key_id: string;
  readonly api_key_name: string | null;
  readonly api_key_project_id: string | null;
  readonly session_ms: number;
  readonly sessions_started: number;
  readonly peak_sessions: number;
  readonly bytes_sent: number;
  readonly bytes_received: number;
  readonly storage_bytes: number;
}

type Place = Pick<Row, "date" | "project_id" | "api_key_id">;

const dayMs = 24 * 60 * 60 * 1000;
const usualDays = 7;
const longestDays = 366;
/** Rows of one query of an export. */
const exportBatch = 1000;

/** Reads `usage_days`. The key of a project sees that project only. */
export class UsageReport {
  readonly #query: Kysely<Tables>;

  constructor({ query }: Database) {
    this.#query = query;
  }

  async list(caller: UsageCaller, { limit, offset, ...filter }: z.output<typeof ListUsage>): Promise<Page<UsageRow>> {
    const window = { limit, offset };
    const rows = this.#rows(caller, filter);
    if (rows === undefined) return emptyPage();
    const found = await rows
      .limit(limit + 1)
      .offset(offset)
      .execute();
    return toPage(found, window, (row) => toUsageRow(row, filter, caller));
  }

  /** Reads the first rows before the answer begins, so that their errors have a status. */
  async export(caller: UsageCaller, { format, ...filter }: z.output<typeof ExportUsage>): Promise<BytesReply> {
    const first = await this.#after(caller, filter, undefined);
    const toText = (row: Row) => {
      const shown = toUsageRow(row, filter, caller);
      return format === "csv" ? csvLine(shown, groupOf(filter)) : `${JSON.stringify(shown)}\n`;
    };
    const after = (place: Place) => this.#after(caller, filter, place);
    async function* texts(): AsyncGenerator<string> {
      if (format === "csv") yield csvHead(groupOf(filter));
      for (let rows = first; rows.length > 0;) {
        yield rows.map(toText).join("");
        const last = rows.at(-1);
        if (rows.length < exportBatch || last === undefined) return;
        rows = await after(last);
      }
    }
    const { from, to } = periodOf(filter);
    return { stream: Readable.from(texts(), { objectMode: false }), fileName: `usage-${from}-${to}.${format}` };
  }

  async #after(caller: UsageCaller, filter: Filter, place: Place | undefined): Promise<readonly Row[]> {
    let rows = this.#rows(caller, filter);
    if (rows === undefined) return [];
    if (place !== undefined)
      rows = rows.where(
        sql<boolean>`(usage_days.date < ${place.date}::date or (usage_days.date = ${place.date}::date
          and (usage_days.project_id, usage_days.api_key_id) > (${place.project_id}, ${place.api_key_id})))`,
      );
    return rows.limit(exportBatch).execute();
  }

  /** @returns `undefined` if no row can match. @throws {ServiceError} 404 for another project than the key's. */
  #rows({ key, namedProjectId }: UsageCaller, filter: Filter) {
    const own = key.project_id ?? namedProjectId;
    const { api_key_id: keyId, project_id: projectId } = filter;
    if (key.project_id !== null && projectId !== undefined && projectId !== key.project_id)
      throw ServiceError.of(projectNotFound(projectId));
    if (!isStorable(keyId) || !isStorable(projectId)) return undefined;
    if (own !== undefined && projectId !== undefined && projectId !== own) return undefined;
    const { from, to } = periodOf(filter);
    let rows = this.#query
      .selectFrom("usage_days")
      .leftJoin("projects", "projects.id", "usage_days.project_id")
      .leftJoin("api_keys", "api_keys.id", "usage_days.api_key_id")
      .select([
        sql<string>`to_char(usage_days.date, 'YYYY-MM-DD')`.as("date"),
        "usage_days.project_id",
        "projects.name as project_name",
        "usage_days.api_key_id",
        "api_keys.name as api_key_name",
        "api_keys.project_id as api_key_project_id",
        "session_ms",
        "sessions_started",
        "peak_sessions",
        "bytes_sent",
        "bytes_received",
        "storage_bytes",
      ])
      .where("scope", "=", groupOf(filter))
      .where(sql<boolean>`usage_days.date between ${from}::date and ${to}::date`)
      .orderBy("usage_days.date", "desc")
      .orderBy("usage_days.project_id")
      .orderBy("usage_days.api_key_id");
    const wanted = projectId ?? own;
    if (wanted !== undefined) rows = rows.where("usage_days.project_id", "=", wanted);
    if (keyId !== undefined) rows = rows.where("usage_days.api_key_id", "=", keyId);
    return rows;
  }
}

/** With both ends. */
export function periodOf(
  { from, to }: Pick<Filter, "from" | "to">,
  nowMs = Date.now(),
): { readonly from: string; readonly to: string } {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  if (from === undefined) {
    const last = to ?? day(nowMs);
    const first = Math.max(Date.parse(last) - (usualDays - 1) * dayMs, Date.parse("0001-01-01"));
    return { from: day(first), to: last };
  }
  const longest = Date.parse(from) + (longestDays - 1) * dayMs;
  return { from, to: to ?? day(Math.min(nowMs, longest)) };
}

/** Rows of a key exist only in the group of keys. */
function groupOf({ api_key_id, group_by }: Filter): Group {
  return api_key_id === undefined ? group_by : "api_key";
}

function toUsageRow(row: Row, filter: Filter, { key }: UsageCaller): UsageRow {
  const isKeyRow = groupOf(filter) === "api_key";
  // A project's key must not learn the names of keys of the organisation.
  const showsKeyName = key.project_id === null || row.api_key_project_id === key.project_id;
  return {
    date: row.date,
    project_id: row.project_id,
    ...(row.project_name !== null && { project_name: row.project_name }),
    ...(isKeyRow && { api_key_id: row.api_key_id === "" ? null : row.api_key_id }),
    ...(isKeyRow && row.api_key_name !== null && showsKeyName && { api_key_name: row.api_key_name }),
    session_minutes: Math.round(row.session_ms / 60) / 1000,
    sessions_started: row.sessions_started,
    peak_concurrent_sessions: row.peak_sessions,
    bytes_sent: row.bytes_sent,
    bytes_received: row.bytes_received,
    ...(!isKeyRow && { storage_bytes: row.storage_bytes }),
  };
}
