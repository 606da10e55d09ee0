import type { Database, Tables } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { type ExpressionBuilder, type Kysely, sql, type SqlBool } from "kysely";
import { aboutSecondsFromNow, oneIntervalFromNow } from "../flows/check-times.ts";
import type { FlowRow } from "../connections/connection-row.ts";
import { storable } from "../flows/flow-store.ts";
import type { CheckResult, Claim } from "./check-result.ts";

/** Work that is due: a check, or an automatic login. */
export type Due =
  | { readonly kind: "check"; readonly claim: Claim }
  | { readonly kind: "login"; readonly id: string; readonly projectId: string };

/** A check that was running when another one was requested. */
export interface RunningCheck {
  readonly checkId: string;
  readonly startedAt: string;
}

export interface Postponement {
  readonly seconds: number;
  readonly why?: {
    readonly code: string;
    readonly reason: string;
    /** A caller waits for the result. Otherwise a reason that lasts is shown once. */
    readonly isRequested: boolean;
  };
}

type Where = ExpressionBuilder<Tables, "auth_connections">;

const now = sql<string>`clock_timestamp()`;
/** Checks of one connection that its timeline keeps. */
const keptChecks = 500;
/** After a server died between taking a login and starting it. */
const loginPauseSeconds = 300;

/** Dead servers have no row any more. Checks end within two minutes. */
const isLost = sql<SqlBool>`(check_started_at < clock_timestamp() - interval '10 minutes'
  or not exists (select 1 from servers where servers.id = auth_connections.check_server_id))`;
const signsIn = sql<SqlBool>`exists (select 1 from auth_flows where connection_id = auth_connections.id
  and auth_flows.status = 'IN_PROGRESS' and expires_at > clock_timestamp())`;

const isFree = (where: Where) => where.or([where("check_id", "is", null), isLost]);

/** Another connection of the profile has a browser that writes to it. */
const sharesProfile = sql<SqlBool>`exists (select 1 from auth_connections as other
  where other.profile_id = auth_connections.profile_id and other.id <> auth_connections.id and other.check_id is not null
    and exists (select 1 from servers where servers.id = other.check_server_id))`;

/** The rows of health checks. A check belongs to one server, and is recorded when it ends. */
export class CheckStore {
  readonly #query: Database["query"];
  readonly #serverId: string;

  constructor({ query }: Pick<Database, "query">, serverId: string) {
    this.#query = query;
    this.#serverId = serverId;
  }

  /** Takes the connection that is due the longest. The lock makes other servers skip it. */
  takeDue(): Promise<Due | undefined> {
    return this.#query.transaction().execute(async (transaction) => {
      const row = await transaction
        .selectFrom("auth_connections")
        .select(["id", "project_id", "status"])
        .where("health_checks", "=", true)
        .where("next_check_at", "<=", now)
        .where(isFree)
        .where((where) => where.not(signsIn))
        .where((where) =>
          where.or([
            where.and([where("status", "=", "AUTHENTICATED"), where.not(sharesProfile)]),
            where.and([
              where("status", "=", "NEEDS_AUTH"),
              where("auto_reauth", "=", true),
              where("signed_in_at", "is not", null),
            ]),
          ]),
        )
        .where(
          sql<SqlBool>`exists (select 1 from projects where projects.id = project_id and projects.status = 'active' and deleted_at is null)`,
        )
        .orderBy("next_check_at")
        .limit(1)
        .forUpdate()
        .skipLocked()
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const { id, project_id: projectId, status } = row;
      if (status === "AUTHENTICATED")
        return { kind: "check", claim: await this.#begin(transaction, { id, projectId }) };
      await transaction
        .updateTable("auth_connections")
        .set({ next_check_at: aboutSecondsFromNow(loginPauseSeconds) })
        .where("id", "=", id)
        .execute();
      return { kind: "login", id, projectId };
    });
  }

  /** Takes a connection for a check now. @returns the check that runs already; `undefined` during a login. */
  take(projectId: string, id: string): Promise<Claim | RunningCheck | undefined> {
    return this.#query.transaction().execute(async (transaction) => {
      const row = await transaction
        .selectFrom("auth_connections")
        .select(["check_id", "check_started_at"])
        .select([isLost.as("is_lost"), signsIn.as("signs_in")])
        .where("id", "=", id)
        .forUpdate()
        .executeTakeFirst();
      if (row === undefined || row.signs_in === true) return undefined;
      const { check_id: checkId, check_started_at: startedAt, is_lost } = row;
      if (checkId !== null && startedAt !== null && is_lost !== true) return { checkId, startedAt };
      return this.#begin(transaction, { id, projectId });
    });
  }

  async #begin(
    transaction: Kysely<Tables>,
    { id, projectId }: { readonly id: string; readonly projectId: string },
  ): Promise<Claim> {
    const checkId = createId();
    await transaction
      .updateTable("auth_connections")
      .set({ check_id: checkId, check_server_id: this.#serverId, check_started_at: now })
      .where("id", "=", id)
      .execute();
    return { checkId, connectionId: id, projectId };
  }

  /** Records the result, unless another server has taken the connection, or it was deleted. */
  finish({ checkId, connectionId }: Claim, result: CheckResult): Promise<FlowRow | undefined> {
    return this.#query.transaction().execute(async (transaction) => {
      const before = await transaction
        .selectFrom("auth_connections")
        .select(["status", "check_started_at"])
        .where("id", "=", connectionId)
        .where("check_id", "=", checkId)
        .forUpdate()
        .executeTakeFirst();
      if (before === undefined) return undefined;
      const status = statusAfter(before.status, result);
      await transaction
        .updateTable("auth_connections")
        .set({
          ...released,
          status,
          last_auth_check_at: now,
          // An automatic login follows at once, but a failed one delays the next.
          ...(status === "AUTHENTICATED" && { next_check_at: oneIntervalFromNow }),
          ...(status !== before.status && status === "NEEDS_AUTH" && { next_check_at: now }),
        })
        .where("id", "=", connectionId)
        .execute();
      const { code, reason, replayId, sessionId } = result;
      const row = await transaction
        .insertInto("auth_flows")
        .values({
          id: checkId,
          connection_id: connectionId,
          type: "health_check",
          status,
          previous_status: before.status,
          step: null,
          error_code: code ?? null,
          error_message: reason === undefined ? null : storable(reason),
          session_id: sessionId ?? null,
          replay_id: replayId ?? null,
          telemetry_captured: result.capturedTelemetry ?? false,
          ...(before.check_started_at !== null && { created_at: before.check_started_at }),
          updated_at: now,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      await dropOldChecks(transaction, connectionId);
      return row;
    });
  }

  /** Ends a check without a result, and tries again later. With a reason, the timeline shows it. */
  async postpone({ checkId, connectionId }: Claim, { seconds, why }: Postponement): Promise<void> {
    await this.#query.transaction().execute(async (transaction) => {
      const row = await transaction
        .updateTable("auth_connections")
        .set({ ...released, next_check_at: sooner(seconds) })
        .where("id", "=", connectionId)
        .where("check_id", "=", checkId)
        .returning("status")
        .executeTakeFirst();
      if (row === undefined || why === undefined) return;
      if (!why.isRequested && (await latestCode(transaction, connectionId)) === why.code) return;
      await transaction
        .insertInto("auth_flows")
        .values({
          id: checkId,
          connection_id: connectionId,
          type: "health_check",
          status: row.status,
          previous_status: row.status,
          step: null,
          error_code: why.code,
          error_message: storable(why.reason),
        })
        .execute();
      await dropOldChecks(transaction, connectionId);
    });
  }

  /** Sets the next automatic login. */
  async postponeLogin(connectionId: string, seconds: number): Promise<void> {
    await this.#query
      .updateTable("auth_connections")
      .set({ next_check_at: aboutSecondsFromNow(seconds) })
      .where("id", "=", connectionId)
      .where("status", "=", "NEEDS_AUTH")
      .execute();
  }

  /** Frees the connections that an earlier run of this server was checking. */
  async releaseAll(): Promise<number> {
    const { numUpdatedRows } = await this.#query
      .updateTable("auth_connections")
      .set(released)
      .where("check_server_id", "=", this.#serverId)
      .executeTakeFirst();
    return Number(numUpdatedRows);
  }

  /** Which of the connections sign in at the moment. */
  async signingIn(connectionIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (connectionIds.length === 0) return new Set();
    const rows = await this.#query
      .selectFrom("auth_flows")
      .select("connection_id")
      .where("connection_id", "in", connectionIds)
      .where("status", "=", "IN_PROGRESS")
      .execute();
    return new Set(rows.map(({ connection_id }) => connection_id));
  }

  /** Automatic logins of this server whose browsers work. Logins that wait for a person do not count. */
  async workingLogins(): Promise<number> {
    const { count } = await this.#query
      .selectFrom("auth_flows")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("server_id", "=", this.#serverId)
      .where("status", "=", "IN_PROGRESS")
      .where("type", "=", "reauth")
      .where("step", "in", ["DISCOVERING", "SUBMITTING"])
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Whether a session for the project would leave others free. */
  async leavesRoom(
    projectId: string,
    limits: { readonly perProject: number; readonly perOrganization: number },
  ): Promise<boolean> {
    const { rows } = await sql<{ readonly free: boolean }>`
      select coalesce(coalesce(projects.max_sessions, nullif(coalesce(organization.default_max_sessions, ${limits.perProject}::int), 0))
            - shoal_used_sessions(projects.id) > 1, true)
          and ${limits.perOrganization}::int - shoal_used_sessions(null) > 1 as free
        from projects cross join organization where projects.id = ${projectId}`.execute(this.#query);
    return rows[0]?.free ?? false;
  }

  row(checkId: string): Promise<FlowRow | undefined> {
    return this.#query.selectFrom("auth_flows").selectAll().where("id", "=", checkId).executeTakeFirst();
  }

  async isRunning(connectionId: string, checkId: string): Promise<boolean> {
    const row = await this.#query
      .selectFrom("auth_connections")
      .select("id")
      .where("id", "=", connectionId)
      .where("check_id", "=", checkId)
      .executeTakeFirst();
    return row !== undefined;
  }
}

/** Not later than the next check without the problem. */
const sooner = (seconds: number) => aboutSecondsFromNow(sql`least(health_check_interval, ${seconds}::int)`);

const released = { check_id: null, check_server_id: null, check_started_at: null } as const;

function statusAfter(before: "AUTHENTICATED" | "NEEDS_AUTH", { status }: CheckResult) {
  if (status === "unknown") return before;
  return status === "signed_in" ? "AUTHENTICATED" : "NEEDS_AUTH";
}

/** Of the newest row of the timeline. */
async function latestCode(transaction: Kysely<Tables>, connectionId: string): Promise<string | null | undefined> {
  const latest = await transaction
    .selectFrom("auth_flows")
    .select("error_code")
    .where("connection_id", "=", connectionId)
    .orderBy("created_at", "desc")
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  return latest?.error_code;
}

async function dropOldChecks(transaction: Kysely<Tables>, connectionId: string): Promise<void> {
  await transaction
    .deleteFrom("auth_flows")
    .where("id", "in", (where) =>
      where
        .selectFrom("auth_flows")
        .select("id")
        .where("connection_id", "=", connectionId)
        .where("type", "=", "health_check")
        .orderBy("created_at", "desc")
        .orderBy("id")
        .offset(keptChecks),
    )
    .execute();
}
