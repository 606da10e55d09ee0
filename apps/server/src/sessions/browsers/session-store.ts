import { containsFolded, type Database, type SessionLifecycle, type Tables } from "@shoal/database";
import type { BrowserProxy, DownloadFinishedData, EndedReason, ListBrowsers } from "@shoal/schemas";
import { type Kysely, type RawBuilder, type Selectable, sql } from "kysely";
import type * as z from "zod/mini";
import { isStorable, newestFirst, type Seen } from "../../http/paging.ts";
import { explainSessionLimit, type SessionLimits } from "../../storage/errors/session-limits.ts";
import { emitEvent } from "../../storage/events/emit-event.ts";
import { containing } from "../../storage/like.ts";
import { explainInvocation, requireActiveInvocation } from "./start/session-invocation.ts";
import { withoutLargePolicies } from "./options/listed-policies.ts";
import type { SessionOptions } from "./options/session-options.ts";

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
  readonly proxy: BrowserProxy | null;
  readonly pool_id: string | null;
  readonly pool_name: string | null;
  /** Only `leased` sessions of pools are visible to clients. */
  readonly pool_state: "starting" | "warm" | "leased" | null;
  /** `null` = none, or deleted after the session ended. */
  readonly profile_id: string | null;
  readonly profile_version: number | null;
  readonly profile_save_changes: boolean;
  readonly browser_restarts: number;
  /** Complete after the end. */
  readonly lifecycle: SessionLifecycle;
  /** As of its start or latest extension; `null` = unlimited. */
  readonly max_duration_seconds: number | null;
  readonly ends_at: string | null;
  readonly telemetry_destination_id: string | null;
  readonly invocation_id: string | null;
  readonly api_key_id: string | null;
  readonly options: SessionOptions;
  readonly region: string;
  /** `null` in rows older than the column. */
  readonly memory: string | null;
  readonly ended_at: string | null;
  readonly ended_reason: string | null;
  /** No server has files of the ended session. Absent in lists. */
  readonly files_stored?: boolean;
}

type StoredOptions = Selectable<Tables["sessions"]>["options"];

/** Every column but `options`, from which lists omit large policies. */
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
  "lifecycle",
  "max_duration_seconds",
  "ends_at",
  "telemetry_destination_id",
  "invocation_id",
  "api_key_id",
  "region",
  "memory",
  "ended_at",
  "ended_reason",
] as const;

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
    | "api_key_id"
  >
>;

export interface SessionEnd {
  /** This server has no files of the session. */
  readonly filesStored?: boolean;
  readonly lifecycle?: SessionLifecycle;
}

/** Receives changes of sessions, for metrics and traces. */
export interface StoreObserver {
  storing<T>(store: () => Promise<T>): Promise<T>;
  /** @param reason - `ended_reason` of the session. */
  ended(reason: string): void;
}

/** Columns of a new row and their types in the database. */
const insertedColumns = {
  id: "text",
  project_id: "text",
  name: "text",
  tags: "jsonb",
  placement: "text",
  server_id: "text",
  created_at: "timestamptz",
  timeout_seconds: "int",
  headless: "boolean",
  stealth: "boolean",
  viewport: "jsonb",
  start_url: "text",
  proxy: "jsonb",
  profile_id: "text",
  profile_save_changes: "boolean",
  telemetry_destination_id: "text",
  invocation_id: "text",
  api_key_id: "text",
  options: "jsonb",
  max_duration_seconds: "int",
  ends_at: "timestamptz",
  region: "text",
  memory: "text",
} as const satisfies Partial<Record<keyof SessionRow, string>>;
type InsertedColumn = keyof typeof insertedColumns;

function typedValue(row: SessionRow, column: InsertedColumn): RawBuilder<unknown> {
  const value = row[column];
  const type = insertedColumns[column];
  const bound = type === "jsonb" && value !== null ? JSON.stringify(value) : value;
  return sql`${bound}::${sql.raw(type)}`;
}

/** Excludes sessions that wait in a pool. */
const isSeen = sql<boolean>`(pool_state is null or pool_state = 'leased')`;

export interface SessionFilter extends Seen<z.output<typeof ListBrowsers>> {
  /** Only ended sessions with one of these reasons. */
  readonly endedReasons?: readonly string[];
  /** Only sessions that follow this one in the list, by its id. */
  readonly before?: string;
  /** Only sessions whose origin has at least these fields. */
  readonly origin?: { readonly dialect?: string; readonly metadata?: object };
}

/** The rows of sessions. Changes apply to running sessions only, and return `undefined` or false for others. */
export class SessionStore {
  readonly #query: Kysely<Tables>;
  readonly #observer: StoreObserver | undefined;

  constructor({ query }: Database, observer?: StoreObserver) {
    this.#query = query;
    this.#observer = observer;
  }

  /** @throws {ServiceError} 429 at the limit of the session's project or of the organisation. */
  async insert(row: SessionRow, limits: SessionLimits): Promise<void> {
    const insert = (): Promise<void> => this.#insert(row, limits);
    await (this.#observer === undefined ? insert() : this.#observer.storing(insert));
  }

  /** Checks the limits in the statement that inserts. */
  async #insert(row: SessionRow, limits: SessionLimits): Promise<void> {
    const columns = Object.keys(insertedColumns) as InsertedColumn[];
    await this.#query
      .insertInto("sessions")
      .columns(columns)
      .expression(
        this.#query
          .selectNoFrom(columns.map((column) => typedValue(row, column).as(column)))
          .where(
            sql<boolean>`shoal_admit_session(${row.project_id}::text, ${limits.perProject}::int, ${limits.perOrganization}::int)`,
          ),
      )
      .execute()
      .catch((error: unknown) => {
        throw explainSessionLimit(explainInvocation(error));
      });
  }

  /** @throws {ServiceError} 404 for an invocation of another project; 409 when it has ended. */
  async requireActiveInvocation(projectId: string, invocationId: string): Promise<void> {
    await requireActiveInvocation(this.#query, projectId, invocationId);
  }

  async remove(id: string): Promise<void> {
    await this.#query.deleteFrom("sessions").where("id", "=", id).execute();
  }

  /** Removes a row that may have been inserted; another session with its id stays. */
  async removeOwn({ created_at, id, server_id }: Pick<SessionRow, "created_at" | "id" | "server_id">): Promise<void> {
    await this.#query
      .deleteFrom("sessions")
      .where("id", "=", id)
      .where("server_id", "=", server_id)
      .where("created_at", "=", created_at)
      .execute();
  }

  /** Ids of running sessions of a server, without browsers of pools. */
  async runningOf(serverId: string): Promise<string[]> {
    const rows = await this.#query
      .selectFrom("sessions")
      .select("id")
      .where("server_id", "=", serverId)
      .where("ended_at", "is", null)
      .where("pool_id", "is", null)
      .execute();
    return rows.map(({ id }) => id);
  }

  /** By id, otherwise a running one by name. @param projectId - `undefined` = any project. */
  async find(projectId: string | undefined, idOrName: string, includeEnded: boolean): Promise<SessionRow | undefined> {
    if (!isStorable(idOrName)) return undefined;
    let rows = this.#query
      .selectFrom("sessions")
      .selectAll()
      .where((where) =>
        where.or([
          where("id", "=", idOrName),
          where.and([where("name", "=", idOrName), where("ended_at", "is", null)]),
        ]),
      )
      .where(isSeen);
    if (projectId !== undefined) rows = rows.where("project_id", "=", projectId);
    if (!includeEnded) rows = rows.where("ended_at", "is", null);
    const found = await rows.execute();
    return found.find((row) => row.id === idOrName) ?? found[0];
  }

  /** Newest first, with one row more than the limit if more exist; without large policies. */
  async list(projectId: string, filter: SessionFilter): Promise<SessionRow[]> {
    const { query: part, pool, region, tags, limit, offset, visible, endedReasons, before, origin } = filter;
    const labels = Object.entries(tags ?? {});
    if (!isStorable(part) || !isStorable(pool) || labels.some(([key, value]) => !isStorable(key) || !isStorable(value)))
      return [];
    // oxlint-disable-next-line typescript/no-deprecated -- deprecated for callers; the service still reads it
    const status = filter.include_deleted ? "all" : filter.status;
    let rows = this.#query
      .selectFrom("sessions")
      .select(plainColumns)
      .select(withoutLargePolicies<"options", SessionOptions>("options"))
      .where("project_id", "=", projectId)
      .where(isSeen);
    if (status !== "all") rows = rows.where("ended_at", status === "active" ? "is" : "is not", null);
    if (region !== undefined) rows = rows.where("region", "=", region);
    if (pool !== undefined)
      rows = rows.where((where) => where.or([where("pool_id", "=", pool), where("pool_name", "=", pool)]));
    if (endedReasons !== undefined) rows = rows.where("ended_reason", "in", endedReasons);
    if (before !== undefined)
      rows = rows.where(
        sql<boolean>`(created_at, id) < (
          select last.created_at, last.id from sessions as last where last.id = ${before} and last.project_id = ${projectId}
        )`,
      );
    if (origin !== undefined) rows = rows.where(sql<boolean>`options @> ${JSON.stringify({ origin })}::jsonb`);
    if (labels.length > 0)
      rows = rows.where(sql<boolean>`tags @> ${JSON.stringify(Object.fromEntries(labels))}::jsonb`);
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
    return newestFirst(rows, { limit, offset, visible }).execute();
  }

  async update(
    id: string,
    { options, proxy, tags, viewport, ...plain }: SessionChanges,
  ): Promise<SessionRow | undefined> {
    const json = Object.entries({ proxy, tags, viewport }).filter(([, value]) => value !== undefined);
    return this.#running(id)
      .set({
        ...plain,
        ...Object.fromEntries(json.map(([column, value]) => [column, value && sql`${JSON.stringify(value)}::jsonb`])),
        ...(options && {
          options: sql<StoredOptions>`${JSON.stringify(options)}::jsonb
            || jsonb_strip_nulls(jsonb_build_object('typed_stored', options->'typed_stored'))`,
        }),
      })
      .returningAll()
      .executeTakeFirst();
  }

  /** Once an action typed a stored value, also for readers on other servers and after the end. */
  async noteTyped(id: string): Promise<void> {
    await this.#query
      .updateTable("sessions")
      .set({ options: sql<StoredOptions>`options || '{"typed_stored": true}'` })
      .where("id", "=", id)
      .execute();
  }

  async extend(id: string, seconds: number, endsAt: string): Promise<SessionRow | undefined> {
    return this.#running(id).set({ max_duration_seconds: seconds, ends_at: endsAt }).returningAll().executeTakeFirst();
  }

  async setProfile(
    id: string,
    {
      profile_id,
      profile_save_changes,
      profile_version,
    }: Pick<SessionRow, "profile_id" | "profile_version" | "profile_save_changes">,
  ): Promise<SessionRow | undefined> {
    return this.#running(id)
      .set({ profile_id, profile_save_changes, profile_version })
      .returningAll()
      .executeTakeFirst();
  }

  async setTelemetryDestination(id: string, destinationId: string | null): Promise<boolean> {
    const { numUpdatedRows } = await this.#running(id)
      .set({ telemetry_destination_id: destinationId })
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Tells webhooks of a finished download. */
  async emitDownload(
    { id, name, project_id }: Pick<SessionRow, "id" | "name" | "project_id">,
    download: Omit<DownloadFinishedData, "session_id" | "session_name">,
  ): Promise<void> {
    const data = { session_id: id, session_name: name, ...download };
    await emitEvent(this.#query, project_id, { type: "download.finished", data });
  }

  async setRestarts(id: string, restarts: number): Promise<void> {
    await this.#query.updateTable("sessions").set({ browser_restarts: restarts }).where("id", "=", id).execute();
  }

  async end(id: string, endedAt: string, reason: EndedReason, end: SessionEnd = {}): Promise<void> {
    const { filesStored = false, lifecycle = {} } = end;
    await this.#running(id)
      .set({
        ended_at: endedAt,
        ended_reason: reason,
        files_stored: filesStored,
        lifecycle: sql`${JSON.stringify(lifecycle)}::jsonb`,
      })
      .execute();
    this.#observer?.ended(reason);
  }

  /** Ends the sessions of an earlier run of this server. @returns their number. */
  async endLost(serverId: string): Promise<number> {
    const { numUpdatedRows } = await this.#query
      .updateTable("sessions")
      .set({ ended_at: new Date().toISOString(), ended_reason: "instance_lost" })
      .where("server_id", "=", serverId)
      .where("ended_at", "is", null)
      .executeTakeFirst();
    return Number(numUpdatedRows);
  }

  #running(id: string) {
    return this.#query.updateTable("sessions").where("id", "=", id).where("ended_at", "is", null);
  }
}
