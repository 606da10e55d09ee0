import type { Page } from "@shoal/contract";
import { checkIntervalTooShort, connectionExists, connectionNotFound, containsNul } from "@shoal/contract/refusals";
import type { Database } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type {
  AuthConnection,
  CreateAuthConnection,
  ListAuthConnections,
  ListTimeline,
  StartLogin,
  TimelineEvent,
  UpdateAuthConnection,
} from "@shoal/schemas";
import { sql } from "kysely";
import type * as z from "zod/mini";
import { emptyPage, isStorable, toPage } from "../../http/paging.ts";
import { isUniqueViolation } from "../../storage/errors/database-errors.ts";
import { columnsOf, type ReferenceParts, refuseReadingProxy, requireDomain } from "./connection-references.ts";
import { type ConnectionRow, type ListedConnection, toConnection, toTimelineEvent } from "./connection-row.ts";
import { defaultHealthCheckSeconds } from "../../resources/organization/entitlements.ts";
import { nextCheckAt } from "../flows/check-times.ts";
import { ConnectionStore } from "./connection-store.ts";

const noReferences = { credential_id: null, credential_provider: null, proxy_id: null };

/** The caller of a change. */
export interface ConnectionWriter {
  readonly projectId: string;
  /** See `mayMoveSecrets`. */
  readonly mayMoveSecrets: boolean;
}

/** The connections of profiles to sites, as rows. */
export class Connections {
  readonly store: ConnectionStore;
  readonly #references: ReferenceParts;
  readonly #minCheckSeconds: () => number;

  /** `minCheckSeconds`: shortest time between two health checks. */
  constructor(
    parts: ReferenceParts & { readonly database: Pick<Database, "query">; readonly minCheckSeconds: () => number },
  ) {
    this.store = new ConnectionStore(parts.database);
    this.#references = parts;
    this.#minCheckSeconds = parts.minCheckSeconds;
  }

  /** @param writer.mayMoveSecrets - see `refuseReadingProxy`. */
  async create(
    { mayMoveSecrets, projectId }: ConnectionWriter,
    request: z.output<typeof CreateAuthConnection>,
  ): Promise<AuthConnection> {
    const { profile_name } = request;
    const domain = requireDomain(request.domain, "body.domain");
    refuseNul(request.login_url);
    this.#requireInterval(request.health_check_interval);
    const columns = await columnsOf(this.#references, projectId, request);
    if (!mayMoveSecrets)
      await refuseReadingProxy(this.#references, { ...noReferences, ...columns, project_id: projectId });
    const id = createId();
    try {
      await this.store.insert({
        credential_id: null,
        login_url: null,
        proxy_id: null,
        proxy_mode: null,
        stealth: null,
        health_check_interval: Math.max(defaultHealthCheckSeconds, this.#minCheckSeconds()),
        health_checks: request.health_checks,
        auto_reauth: request.auto_reauth,
        save_credentials: request.save_credentials,
        record_session: request.record_session,
        ...columns,
        id,
        project_id: projectId,
        profile_name,
        domain,
      });
    } catch (error) {
      const existing = isUniqueViolation(error) && (await this.store.idOf(projectId, profile_name, domain));
      throw typeof existing === "string" ? ServiceError.of(connectionExists(profile_name, domain, existing)) : error;
    }
    return toConnection(await this.existing(projectId, id));
  }

  async list(projectId: string, filter: z.output<typeof ListAuthConnections>): Promise<Page<ListedConnection>> {
    const { domain, profile_name, query } = filter;
    if (![domain, profile_name, query].every(isStorable)) return emptyPage();
    return toPage(await this.store.list(projectId, filter), filter, (row) => row);
  }

  async update(
    { mayMoveSecrets, projectId }: ConnectionWriter,
    id: string,
    request: z.output<typeof UpdateAuthConnection>,
  ): Promise<ConnectionRow> {
    let row = await this.existing(projectId, id);
    refuseNul(request.login_url);
    this.#requireInterval(request.health_check_interval);
    const columns = await columnsOf(this.#references, projectId, request);
    const isChecked = !mayMoveSecrets && (columns.proxy_id !== undefined || columns.credential_id !== undefined);
    for (;;) {
      if (isChecked) await refuseReadingProxy(this.#references, { ...row, ...columns });
      // A change may make an automatic login possible.
      const next_check_at =
        row.status === "AUTHENTICATED" ? nextCheckAt(request.health_check_interval) : sql<string>`clock_timestamp()`;
      const change = { ...columns, next_check_at };
      const isStored = await this.store.update(row.id, change, isChecked ? row : undefined);
      if (isStored) return this.existing(projectId, id);
      // Deleted, or another change came first: the check was of an old row.
      row = await this.existing(projectId, id);
    }
  }

  /** A connection with the settings of one login, which are not stored. @throws {ServiceError} 400, 404 */
  async withWishes(
    { mayMoveSecrets, projectId }: ConnectionWriter,
    id: string,
    wishes: z.output<typeof StartLogin>,
  ): Promise<ConnectionRow> {
    const row = await this.existing(projectId, id);
    const { browser_telemetry: telemetry, ...columns } = await columnsOf(this.#references, projectId, wishes);
    if (!mayMoveSecrets && columns.proxy_id !== undefined)
      await refuseReadingProxy(this.#references, { ...row, proxy_id: columns.proxy_id });
    return {
      ...row,
      proxy_id: columns.proxy_id === undefined ? row.proxy_id : columns.proxy_id,
      proxy_mode: columns.proxy_mode === undefined ? row.proxy_mode : columns.proxy_mode,
      stealth: columns.stealth ?? row.stealth,
      record_session: columns.record_session ?? row.record_session,
      ...(wishes.skill_mode === "disabled" && { plan: null }),
      ...(telemetry !== undefined && {
        browser_telemetry: telemetry === null ? null : (JSON.parse(telemetry) as Record<string, unknown>),
      }),
    };
  }

  async delete(projectId: string, id: string): Promise<void> {
    if (!isStorable(id) || !(await this.store.delete(projectId, id))) throw ServiceError.of(connectionNotFound(id));
  }

  async timeline(projectId: string, id: string, filter: z.output<typeof ListTimeline>): Promise<Page<TimelineEvent>> {
    const row = await this.existing(projectId, id);
    return toPage(await this.store.timeline(row.id, filter), filter, toTimelineEvent);
  }

  #requireInterval(seconds: number | undefined): void {
    const limit = this.#minCheckSeconds();
    if (seconds !== undefined && seconds < limit) throw ServiceError.of(checkIntervalTooShort(seconds, limit));
  }

  /** @throws {ServiceError} 404 */
  async existing(projectId: string, id: string): Promise<ConnectionRow> {
    const row = isStorable(id) ? await this.store.find(projectId, id) : undefined;
    if (row === undefined) throw ServiceError.of(connectionNotFound(id));
    return row;
  }
}

function refuseNul(loginUrl: string | undefined): void {
  if (!isStorable(loginUrl)) throw ServiceError.of(containsNul("body.login_url"));
}
