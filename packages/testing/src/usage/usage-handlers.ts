import type { OperationsOf } from "@shoal/contract";
import { projectNotFound } from "@shoal/contract/refusals";
import { ServiceError, type Handlers } from "@shoal/router";
import type { ExportUsage, UsageRow } from "@shoal/schemas";
import { Readable } from "node:stream";
import type * as z from "zod/mini";
import type { Access } from "../state/access.ts";
import { byText, pageOf } from "../state/listing.ts";
import { dayMs, type SessionRow, type Store } from "../state/store.ts";

type Filter = Omit<z.output<typeof ExportUsage>, "format">;
type Interval = readonly [sinceMs: number, untilMs: number];

interface Use {
  readonly date: string;
  readonly projectId: string;
  /** `null` in rows of projects. */
  readonly keyId: string | null;
  readonly intervals: Interval[];
  started: number;
}

const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Sessions without network and storage: bytes are 0. */
export function usageHandlers(store: Store): Handlers<OperationsOf<"usage">, Access> {
  return {
    listUsage: ({ query: { limit, offset, ...filter }, context }) =>
      pageOf(rowsOf(store, grouped(filter), context), { limit, offset }, (row) => row),
    exportUsage({ query: { format, ...asked }, context }) {
      const filter = grouped(asked);
      const rows = rowsOf(store, filter, context);
      const text =
        format === "csv" ? csvOf(rows, filter.group_by) : rows.map((row) => `${JSON.stringify(row)}\n`).join("");
      const { from, to } = periodOf(filter);
      const stream = Readable.from([Buffer.from(text)], { objectMode: false });
      return { stream, fileName: `usage-${from}-${to}.${format}` };
    },
  };
}

/** Rows of a key exist only in the group of keys. */
function grouped(filter: Filter): Filter {
  return filter.api_key_id === undefined ? filter : { ...filter, group_by: "api_key" };
}

function rowsOf(store: Store, filter: Filter, { key, namedProjectId }: Access): UsageRow[] {
  const { api_key_id: keyId, group_by, project_id: projectId } = filter;
  if (key.projectId !== null && projectId !== undefined && projectId !== key.projectId)
    throw ServiceError.of(projectNotFound(projectId));
  const own = key.projectId ?? namedProjectId;
  const { from, to } = periodOf(filter);
  const uses = new Map<string, Use>();
  for (const session of store.sessions) {
    if ([own, projectId].some((id) => id !== undefined && id !== session.projectId)) continue;
    if (keyId !== undefined && keyId !== session.apiKeyId) continue;
    addSession(uses, session, group_by);
  }
  return [...uses.values()]
    .filter(({ date }) => date >= from && date <= to)
    .sort((a, b) => byText(b.date, a.date) || byText(a.projectId, b.projectId) || byText(a.keyId ?? "", b.keyId ?? ""))
    .map((use) => toUsageRow(store, use, filter));
}

function periodOf({ from, to }: Filter): { readonly from: string; readonly to: string } {
  const last = to ?? dateOf(Math.min(Date.now(), from === undefined ? Infinity : Date.parse(from) + 365 * dayMs));
  return { from: from ?? dateOf(Date.parse(last) - 6 * dayMs), to: last };
}

function addSession(uses: Map<string, Use>, session: SessionRow, group: Filter["group_by"]): void {
  const since = Date.parse(session.createdAt);
  const until = session.ended === undefined ? Date.now() : Date.parse(session.ended.at);
  const first = Math.floor(since / dayMs) * dayMs;
  for (let day = first; day === first || day < until; day += dayMs) {
    const keyId = group === "api_key" ? session.apiKeyId : null;
    const place = [dateOf(day), session.projectId, keyId ?? ""].join(" ");
    const use: Use = uses.get(place) ?? {
      date: dateOf(day),
      projectId: session.projectId,
      keyId,
      intervals: [],
      started: 0,
    };
    uses.set(place, use);
    use.intervals.push([Math.max(since, day), Math.min(until, day + dayMs)]);
    if (since >= day) use.started += 1;
  }
}

function toUsageRow(store: Store, { date, intervals, keyId, projectId, started }: Use, filter: Filter): UsageRow {
  const usedMs = intervals.reduce((sum, [since, until]) => sum + until - since, 0);
  const projectName = store.findProject(projectId)?.name;
  const keyName = store.apiKeys.find(({ id }) => id === keyId)?.name;
  return {
    date,
    project_id: projectId,
    ...(projectName !== undefined && { project_name: projectName }),
    ...(filter.group_by === "api_key" && {
      api_key_id: keyId,
      ...(keyName !== undefined && { api_key_name: keyName }),
    }),
    session_minutes: Math.round(usedMs / 60) / 1000,
    sessions_started: started,
    peak_concurrent_sessions: peakOf(intervals),
    bytes_sent: 0,
    bytes_received: 0,
    ...(filter.group_by === "project" && { storage_bytes: 0 }),
  };
}

function peakOf(intervals: readonly Interval[]): number {
  return Math.max(
    0,
    ...intervals.map(([at]) => intervals.filter(([since, until]) => since <= at && at < until).length),
  );
}

function csvOf(rows: readonly UsageRow[], group: Filter["group_by"]): string {
  const figures = [
    "session_minutes",
    "sessions_started",
    "peak_concurrent_sessions",
    "bytes_sent",
    "bytes_received",
  ] as const;
  const columns =
    group === "project"
      ? (["date", "project_id", "project_name", ...figures, "storage_bytes"] as const)
      : (["date", "project_id", "project_name", "api_key_id", "api_key_name", ...figures] as const);
  const cell = (value: string | number) => {
    const safe = /^[=+\-@\t\r]/.test(String(value)) && typeof value === "string" ? `'${value}` : String(value);
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const lines = rows.map((row) => columns.map((column) => cell(row[column] ?? "")).join(","));
  return [columns.join(","), ...lines].map((line) => `${line}\r\n`).join("");
}
