import * as z from "zod/mini";
import { Day, pageFields } from "../base/common.ts";
import { checked, lazyObject } from "../base/schema.ts";

/** The use of one UTC day. */
export interface UsageRow extends z.output<typeof UsageRow> {}
export const UsageRow = lazyObject(() => ({
  /** The day in UTC. */
  date: Day,
  /** Id of the project, which may be deleted. */
  project_id: z.string(),
  /** Present name of the project, or its last one. */
  project_name: z.optional(z.string()),
  /** Id of the API key that started the sessions, which may be deleted; with `group_by: api_key` only. `null` = the service itself, for logins and health checks. */
  api_key_id: z.optional(z.nullable(z.string())),
  /** Present name of the key, or its last one. A project's key sees only names of keys of its project. */
  api_key_name: z.optional(z.string()),
  /** Minutes of sessions, summed over all sessions. Browsers that wait in a pool do not count. */
  session_minutes: z.number(),
  /** Sessions that began on this day. */
  sessions_started: z.int(),
  /** Most sessions at the same moment. */
  peak_concurrent_sessions: z.int(),
  /** Bytes from browsers to the network, with headers and TLS. */
  bytes_sent: z.int(),
  /** Bytes from the network to browsers, with headers and TLS. */
  bytes_received: z.int(),
  /** Largest size on this day of profiles, extensions, snapshots, recordings and kept downloads; absent with `group_by: api_key`. */
  storage_bytes: z.optional(z.int()),
}));

const dayMs = 24 * 60 * 60 * 1000;
/** Days of a period with both ends. */
const longestDays = 366;

const filterFields = () => ({
  /** The first day, ISO 8601: `2026-01-01`; by default six days before `to`. */
  from: z.optional(Day),
  /** The last day, at most 365 days after `from`; by default today, in UTC. */
  to: z.optional(Day),
  /** One row per day and project, or per day, project and API key. */
  group_by: z._default(z.enum(["project", "api_key"]), "project"),
  /** Only this project, also a deleted one. */
  project_id: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
  /** Only this API key, also a deleted one. Implies `group_by: api_key`. */
  api_key_id: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
});

interface Filter {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

function daysOf({ from, to }: Filter): number {
  return from === undefined || to === undefined ? 1 : (Date.parse(to) - Date.parse(from)) / dayMs + 1;
}

const checks = [
  z.refine<Filter>((filter) => daysOf(filter) > 0, { path: ["to"], error: "must not be before from" }),
  z.refine<Filter>((filter) => daysOf(filter) <= longestDays, {
    path: ["to"],
    error: "must be at most 365 days after from",
  }),
] as const;

/** Input of `usage.list`. */
export interface ListUsage extends z.input<typeof ListUsage> {}
export const ListUsage = z.lazy(() => checked(z.object({ ...filterFields(), ...pageFields }), ...checks));

/** Input of `usage.export`. */
export interface ExportUsage extends z.input<typeof ExportUsage> {}
export const ExportUsage = z.lazy(() =>
  checked(
    z.object({
      ...filterFields(),
      /** `csv` has a line with the names of the columns; `jsonl` is one JSON object per line. */
      format: z._default(z.enum(["csv", "jsonl"]), "csv"),
    }),
    ...checks,
  ),
);
