import { containsFolded, type Database } from "@shoal/database";
import type { BrowserProxy, EndedReason, ListBrowsers } from "@shoal/schemas";
import { sql } from "kysely";
import type * as z from "zod/mini";
import { isStorable, newestFirst } from "../paging.ts";
import { explainSessionLimit, type SessionLimits } from "../projects/session-limits.ts";
import { containing } from "../like.ts";
import { withoutLargePolicies } from "./listed-policies.ts";
import type { SessionOptions } from "./session-options.ts";

/** A session as it lies in the database. */
export interface SessionRow {
  readonly id: string;
  readonly project_id: string;
  readonly name: string | null;
  readonly tags: Record<string, string>;
  readonly placement: string;
  readonly server_id: string;
  readonly created_at: string;
  readonly timeout_seconds: number;
  readonly headless: boolean;
  readonly stealth: boolean;
  readonly viewport: { width: number; height: number; refresh_rate?: number } | null;
  readonly start_url: string | null;
  /** What was chosen for its traffic; `null` = nothing. */
  readonly proxy: BrowserProxy | null;
  /** The pool that keeps it; `null` = none. */
  readonly pool_id: string | null;
  readonly pool_name: string | null;
  /** Nobody sees a session of a pool that is not `leased`. */
  readonly pool_state: "starting" | "warm" | "leased" | null;
  /** The profile that it started from; `null` = none, or one that was deleted since it ended. */
  readonly profile_id: string | null;
  /** Number of the state that it started from; `null` = an empty profile. */
  readonly profile_version: number | null;
  readonly profile_save_changes: boolean;
  readonly browser_restarts: number;
  /** Of its start, or its latest extension; `null` = it runs for as long as it is used. */
  readonly max_duration_seconds: number | null;
  /** When it ends although it is used. */
  readonly ends_at: string | null;
  /** Where its telemetry is sent; `null` = nowhere. */
  readonly telemetry_destination_id: string | null;
  readonly options: SessionOptions;
  /** Where its server is. */
  readonly region: string;
  /** What it may take, as it is shown; `null` = from before that was written down. */
  readonly memory: string | null;
  readonly ended_at: string | null;
  readonly ended_reason: string | null;
}

/** Every column but `options`, which lists read in another way. */
const plainColumns = [
  "id",
  "project_id",
  "name",
  "tags",
  "placement",
  "server_id",
  "created_at",
  "timeout_seconds",
  "headless",
  "stealth",
  "viewport",
  "start_url",
  "proxy",
  "pool_id",
  "pool_name",
  "pool_state",
  "profile_id",
  "profile_version",
  "profile_save_changes",
  "browser_restarts",
  "max_duration_seconds",
  "ends_at",
  "telemetry_destination_id",
  "region",
  "memory",
  "ended_at",
  "ended_reason",
] as const;

/** What may change of a running session. */
export type SessionChanges = Partial<
  Pick<
    SessionRow,
    | "name"
    | "tags"
    | "options"
    | "start_url"
    | "viewport"
    | "proxy"
    | "telemetry_destination_id"
    | "profile_id"
    | "profile_version"
    | "profile_save_changes"
  >
>;

/** Browsers that wait in a pool are nobody's session. */
const isSeen = sql<boolean>`(pool_state is null or pool_state = 'leased')`;

/** The queries behind browser sessions. */
export function createSessionStore({ query }: Database) {
  return {
    /** Stores a session that starts now. @throws {ServiceError} 429 when its project, or the organisation, runs as many as it may. */
    async insert(row: SessionRow, limits: SessionLimits): Promise<void> {
      await query
        .insertInto("sessions")
        .columns([
          "id",
          "project_id",
          "name",
          "tags",
          "placement",
          "server_id",
          "created_at",
          "timeout_seconds",
          "headless",
          "stealth",
          "viewport",
          "start_url",
          "proxy",
          "profile_id",
          "profile_save_changes",
          "browser_restarts",
          "telemetry_destination_id",
          "options",
          "max_duration_seconds",
          "ends_at",
          "region",
          "memory",
        ])
        .expression(
          query
            .selectNoFrom([
              sql<string>`${row.id}::text`.as("id"),
              sql<string>`${row.project_id}::text`.as("project_id"),
              sql<string | null>`${row.name}::text`.as("name"),
              sql<string>`${JSON.stringify(row.tags)}::jsonb`.as("tags"),
              sql<string>`${row.placement}::text`.as("placement"),
              sql<string>`${row.server_id}::text`.as("server_id"),
              sql<string>`${row.created_at}::timestamptz`.as("created_at"),
              sql<number>`${row.timeout_seconds}::int`.as("timeout_seconds"),
              sql<boolean>`${row.headless}::boolean`.as("headless"),
              sql<boolean>`${row.stealth}::boolean`.as("stealth"),
              sql<string | null>`${row.viewport && JSON.stringify(row.viewport)}::jsonb`.as("viewport"),
              sql<string | null>`${row.start_url}::text`.as("start_url"),
              sql<string | null>`${row.proxy && JSON.stringify(row.proxy)}::jsonb`.as("proxy"),
              sql<string | null>`${row.profile_id}::text`.as("profile_id"),
              sql<boolean>`${row.profile_save_changes}::boolean`.as("profile_save_changes"),
              sql<number>`0`.as("browser_restarts"),
              sql<string | null>`${row.telemetry_destination_id}::text`.as("telemetry_destination_id"),
              sql<string>`${JSON.stringify(row.options)}::jsonb`.as("options"),
              sql<number | null>`${row.max_duration_seconds}::int`.as("max_duration_seconds"),
              sql<string | null>`${row.ends_at}::timestamptz`.as("ends_at"),
              sql<string>`${row.region}::text`.as("region"),
              sql<string | null>`${row.memory}::text`.as("memory"),
            ])
            .where(sql<boolean>`shoal_admit_session(${row.project_id}::text, ${limits.perProject}::int, ${limits.perOrganization}::int)`),
        )
        .execute()
        .catch((error: unknown) => {
          throw explainSessionLimit(error);
        });
    },

    /** Takes back a session that never started; its name is free again. */
    async remove(id: string): Promise<void> {
      await query.deleteFrom("sessions").where("id", "=", id).execute();
    },

    /** By id, or else, among running ones, by name. @param projectId - `undefined` = of any project. */
    async find(projectId: string | undefined, idOrName: string, includeEnded: boolean): Promise<SessionRow | undefined> {
      if (!isStorable(idOrName)) return undefined;
      let rows = query
        .selectFrom("sessions")
        .selectAll()
        .where((where) => where.or([where("id", "=", idOrName), where.and([where("name", "=", idOrName), where("ended_at", "is", null)])]))
        .where(isSeen);
      if (projectId !== undefined) rows = rows.where("project_id", "=", projectId);
      if (!includeEnded) rows = rows.where("ended_at", "is", null);
      const found = await rows.execute();
      return found.find((row) => row.id === idOrName) ?? found[0];
    },

    /** Newest first, one row more than the limit where there are more; without large policies. */
    async list(projectId: string, filter: z.output<typeof ListBrowsers>): Promise<SessionRow[]> {
      const { query: part, region, tags, limit, offset } = filter;
      const labels = Object.entries(tags ?? {});
      if (!isStorable(part) || labels.some(([key, value]) => !isStorable(key) || !isStorable(value))) return [];
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- deprecated for callers, who may still send it
      const status = filter.include_deleted ? "all" : filter.status;
      let rows = query
        .selectFrom("sessions")
        .select(plainColumns)
        .select(withoutLargePolicies<"options", SessionOptions>("options"))
        .where("project_id", "=", projectId)
        .where(isSeen);
      if (status !== "all") rows = rows.where("ended_at", status === "active" ? "is" : "is not", null);
      if (region !== undefined) rows = rows.where("region", "=", region);
      if (labels.length > 0) rows = rows.where(sql<boolean>`tags @> ${JSON.stringify(Object.fromEntries(labels))}::jsonb`);
      if (part !== undefined)
        rows = rows.where((where) =>
          where.or([
            containsFolded("name_folded", part),
            where("pool_name", "ilike", containing(part)),
            where("id", "ilike", containing(part)),
            where("profile_id", "ilike", containing(part)),
            where(where.ref("proxy", "->>").key("id"), "ilike", containing(part)),
          ]),
        );
      return newestFirst(rows, { limit, offset }).execute();
    },

    /** Changes a running session. @returns its row; `undefined` when it has ended. */
    async update(id: string, { options, proxy, tags, viewport, ...plain }: SessionChanges): Promise<SessionRow | undefined> {
      const json = Object.entries({ options, proxy, tags, viewport }).filter(([, value]) => value !== undefined);
      return query
        .updateTable("sessions")
        .set({ ...plain, ...Object.fromEntries(json.map(([column, value]) => [column, value && sql`${JSON.stringify(value)}::jsonb`])) })
        .where("id", "=", id)
        .where("ended_at", "is", null)
        .returningAll()
        .executeTakeFirst();
    },

    /** Moves the end of a running session. @returns its row; `undefined` when it has ended. */
    async extend(id: string, seconds: number, endsAt: string): Promise<SessionRow | undefined> {
      return query
        .updateTable("sessions")
        .set({ max_duration_seconds: seconds, ends_at: endsAt })
        .where("id", "=", id)
        .where("ended_at", "is", null)
        .returningAll()
        .executeTakeFirst();
    },

    /** Gives a running session a profile, or takes it away again. @returns its row; `undefined` when it has ended. */
    async setProfile(
      id: string,
      { profile_id, profile_save_changes, profile_version }: Pick<SessionRow, "profile_id" | "profile_version" | "profile_save_changes">,
    ): Promise<SessionRow | undefined> {
      return query
        .updateTable("sessions")
        .set({ profile_id, profile_save_changes, profile_version })
        .where("id", "=", id)
        .where("ended_at", "is", null)
        .returningAll()
        .executeTakeFirst();
    },

    /** Sends a running session's telemetry elsewhere. @returns whether it still runs. */
    async setTelemetryDestination(id: string, destinationId: string | null): Promise<boolean> {
      const { numUpdatedRows } = await query
        .updateTable("sessions")
        .set({ telemetry_destination_id: destinationId })
        .where("id", "=", id)
        .where("ended_at", "is", null)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async setRestarts(id: string, restarts: number): Promise<void> {
      await query.updateTable("sessions").set({ browser_restarts: restarts }).where("id", "=", id).execute();
    },

    async end(id: string, endedAt: string, reason: EndedReason): Promise<void> {
      await query
        .updateTable("sessions")
        .set({ ended_at: endedAt, ended_reason: reason })
        .where("id", "=", id)
        .where("ended_at", "is", null)
        .execute();
    },

    /** Ends what a former life of this server left as running. @returns how many there were. */
    async endLost(serverId: string): Promise<number> {
      const { numUpdatedRows } = await query
        .updateTable("sessions")
        .set({ ended_at: new Date().toISOString(), ended_reason: "instance_lost" })
        .where("server_id", "=", serverId)
        .where("ended_at", "is", null)
        .executeTakeFirst();
      return Number(numUpdatedRows);
    },
  };
}
export type SessionStore = ReturnType<typeof createSessionStore>;
