import type { Page } from "@shoal/contract";
import { containsFolded, type Database, folded, type Tables } from "@shoal/database";
import type { OutboundRule } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type {
  CreateOtlpDestination,
  ListOtlpDestinations,
  OtlpDestination,
  UpdateOtlpDestination,
} from "@shoal/schemas";
import type { Kysely } from "kysely";
import type * as z from "zod/mini";
import { isUniqueViolation } from "../../storage/errors/database-errors.ts";
import { createId } from "@shoal/primitives";
import { emptyPage, isStorable, newestFirst, toPage } from "../../http/paging.ts";
import { badField } from "../../http/bad-field.ts";
import { createReadCache, type ReadCache } from "../../storage/read-cache.ts";
import type { Envelopes, SealedPlace } from "../../storage/envelopes/envelopes.ts";
import { changedHeaders, checkEndpoint, type Headers } from "./destination-rules.ts";

export const destinationField = "body.telemetry.export.otlp.destination";

export interface DestinationAddress {
  readonly id: string;
  readonly endpoint: string;
  /** `undefined` = they cannot be decrypted: their master key is missing or unavailable. */
  readonly headers: Headers | undefined;
}

interface DestinationRow {
  readonly id: string;
  readonly project_id: string;
  readonly name: string;
  readonly endpoint: string;
  readonly description: string | null;
  readonly header_names: string[];
  readonly headers: Buffer | null;
  readonly consecutive_failures: number;
  readonly last_export_at: string | null;
  readonly last_error: string | null;
  readonly last_error_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

const columns = [
  "id",
  "project_id",
  "name",
  "endpoint",
  "description",
  "header_names",
  "headers",
  "consecutive_failures",
  "last_export_at",
  "last_error",
  "last_error_at",
  "created_at",
  "updated_at",
] as const;

function toDestination(row: DestinationRow): OtlpDestination {
  return {
    id: row.id,
    name: row.name,
    endpoint: row.endpoint,
    ...(row.description !== null && { description: row.description }),
    headers: Object.fromEntries(row.header_names.map((name) => [name, ""])),
    consecutive_failures: row.consecutive_failures,
    ...(row.last_export_at !== null && { last_export_at: row.last_export_at }),
    ...(row.last_error !== null && { last_error: row.last_error }),
    ...(row.last_error_at !== null && { last_error_at: row.last_error_at }),
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

function textOrNull(text: string | undefined): string | null {
  return text === undefined || text === "" ? null : text;
}

function notFound(idOrName: string): ServiceError {
  return new ServiceError(404, "not_found", `Telemetry destination ${idOrName} was not found in this project.`, {
    hint: "List the destinations with telemetry.destinations.list, or create it with telemetry.destinations.create.",
  });
}

function nameTaken(name: string): ServiceError {
  return new ServiceError(
    409,
    "name_taken",
    `A telemetry destination named ${JSON.stringify(name)} already exists in this project.`,
    { hint: "Choose another name, or use that destination." },
  );
}

/** Describes the user of a destination for a message; `undefined` = unused. Lock its row first. */
async function userOf(transaction: Kysely<Tables>, id: string): Promise<string | undefined> {
  const pool = await transaction
    .selectFrom("browser_pools")
    .select(["id", "name"])
    .where("telemetry_destination_id", "=", id)
    .limit(1)
    .executeTakeFirst();
  if (pool !== undefined)
    return `browser pool ${pool.name ?? pool.id} sends the telemetry of its browsers there. Change the destination of the pool with browserPools.update`;
  const connection = await transaction
    .selectFrom("auth_connections")
    .select("id")
    .where("telemetry_destination_id", "=", id)
    .executeTakeFirst();
  if (connection !== undefined)
    return `connection ${connection.id} sends the telemetry of its logins there. Change it with auth.connections.update`;
  const session = await transaction
    .selectFrom("sessions")
    .select(["id", "pool_id", "pool_state"])
    .where("telemetry_destination_id", "=", id)
    .where("ended_at", "is", null)
    .limit(1)
    .executeTakeFirst();
  if (session === undefined) return undefined;
  if (session.pool_state !== null && session.pool_state !== "leased")
    return `idle browsers of pool ${session.pool_id ?? ""} use it. Replace them with browserPools.flush`;
  return `running browser ${session.id} sends its telemetry there. End the browser, or change telemetry.export with browsers.update`;
}

function placeOf({ id, project_id }: Pick<DestinationRow, "id" | "project_id">): SealedPlace {
  return { projectId: project_id, id, field: "telemetry_destinations.headers" };
}

export class TelemetryDestinations {
  readonly #envelopes: Envelopes;
  readonly #rule: OutboundRule;
  readonly #query: Database["query"];
  readonly #addresses: ReadCache<DestinationAddress>;

  constructor(parts: {
    readonly database: Database;
    readonly envelopes: Envelopes;
    readonly rule: OutboundRule;
    readonly isLive: () => boolean;
  }) {
    this.#envelopes = parts.envelopes;
    this.#rule = parts.rule;
    this.#query = parts.database.query;
    this.#addresses = createReadCache<DestinationAddress>({
      max: 10_000,
      isLive: parts.isLive,
      isPrivate: parts.database.isJoined,
      load: async (id) => {
        const row = await this.#query
          .selectFrom("telemetry_destinations")
          .select(columns)
          .where("id", "=", id)
          .executeTakeFirst();
        if (row === undefined) return undefined;
        const headers = await this.#opened(row).catch(() => undefined);
        // Not cached, so that the next batch tries the key management again.
        if (headers === undefined) this.#addresses.forget(id);
        return { id, endpoint: row.endpoint, headers };
      },
      idOf: ({ id }) => id,
    });
  }

  async create(projectId: string, request: z.output<typeof CreateOtlpDestination>): Promise<OtlpDestination> {
    await checkEndpoint(request.endpoint, this.#rule);
    if (!isStorable(request.description)) throw badField("description", "must not contain a NUL character");
    const id = createId();
    try {
      const row = await this.#query
        .insertInto("telemetry_destinations")
        .values({
          id,
          project_id: projectId,
          name: request.name,
          endpoint: request.endpoint,
          description: textOrNull(request.description),
          ...(await this.#sealed({ id, project_id: projectId }, changedHeaders({}, request.headers ?? {}))),
        })
        .returning(columns)
        .executeTakeFirstOrThrow();
      return toDestination(row);
    } catch (error) {
      throw isUniqueViolation(error) ? nameTaken(request.name) : error;
    }
  }

  async list(
    projectId: string,
    { query: part, name, limit, offset }: z.output<typeof ListOtlpDestinations>,
  ): Promise<Page<OtlpDestination>> {
    if (!isStorable(part) || !isStorable(name)) return emptyPage();
    let rows = this.#query.selectFrom("telemetry_destinations").select(columns).where("project_id", "=", projectId);
    if (part !== undefined)
      rows = rows.where((where) => where.or([containsFolded("name_folded", part), where("id", "=", part)]));
    if (name !== undefined) rows = rows.where("name_folded", "=", folded(name));
    const found = await newestFirst(rows, { limit, offset }).execute();
    return toPage(found, { limit, offset }, toDestination);
  }

  async get(projectId: string, idOrName: string): Promise<OtlpDestination> {
    return toDestination(await this.#existing(projectId, idOrName));
  }

  async update(
    projectId: string,
    idOrName: string,
    request: z.output<typeof UpdateOtlpDestination>,
  ): Promise<OtlpDestination> {
    const { id } = await this.#existing(projectId, idOrName);
    if (request.endpoint !== undefined) await checkEndpoint(request.endpoint, this.#rule);
    if (!isStorable(request.description)) throw badField("description", "must not contain a NUL character");
    try {
      const row = await this.#query.transaction().execute(async (transaction) => {
        // The lock merges concurrent changes of headers.
        const before = await transaction
          .selectFrom("telemetry_destinations")
          .select(columns)
          .where("id", "=", id)
          .forUpdate()
          .executeTakeFirst();
        if (before === undefined) throw notFound(idOrName);
        const sealed =
          request.headers === undefined
            ? {}
            : await this.#sealed(before, changedHeaders(await this.#opened(before), request.headers));
        return transaction
          .updateTable("telemetry_destinations")
          .set({
            ...(request.name !== undefined && { name: request.name }),
            ...(request.endpoint !== undefined && { endpoint: request.endpoint }),
            ...(request.description !== undefined && { description: textOrNull(request.description) }),
            ...sealed,
            // Another address is another receiver.
            ...(request.endpoint !== undefined && request.endpoint !== before.endpoint && { consecutive_failures: 0 }),
            updated_at: new Date(),
          })
          .where("id", "=", id)
          .returning(columns)
          .executeTakeFirstOrThrow();
      });
      this.#addresses.forget(id);
      return toDestination(row);
    } catch (error) {
      throw request.name !== undefined && isUniqueViolation(error) ? nameTaken(request.name) : error;
    }
  }

  /** @throws {ServiceError} 409 `conflict` naming a session or pool that uses it. */
  async delete(projectId: string, idOrName: string): Promise<void> {
    const { id } = await this.#existing(projectId, idOrName);
    await this.#query.transaction().execute(async (transaction) => {
      // Storing a session with this destination takes the same lock, so this check sees the session.
      const row = await transaction
        .selectFrom("telemetry_destinations")
        .select("id")
        .where("id", "=", id)
        .forUpdate()
        .executeTakeFirst();
      if (row === undefined) throw notFound(idOrName);
      const user = await userOf(transaction, id);
      if (user !== undefined)
        throw new ServiceError(409, "conflict", `Telemetry destination ${idOrName} is in use: ${user}.`);
      await transaction.deleteFrom("telemetry_destinations").where("id", "=", id).execute();
    });
    this.#addresses.forget(id);
  }

  /** @throws {ServiceError} 404 naming the field. */
  async choose(
    projectId: string,
    { id, name }: { readonly id?: string | undefined; readonly name?: string | undefined },
  ): Promise<string> {
    const wanted = id ?? name ?? "";
    const row = isStorable(wanted)
      ? await this.#query
          .selectFrom("telemetry_destinations")
          .select("id")
          .where("project_id", "=", projectId)
          .where(id === undefined ? "name" : "id", "=", wanted)
          .executeTakeFirst()
      : undefined;
    if (row !== undefined) return row.id;
    const message = `${destinationField}: telemetry destination ${wanted} was not found in this project`;
    throw new ServiceError(404, "not_found", `${message}.`, {
      hint: "List the destinations with telemetry.destinations.list, or create it with telemetry.destinations.create.",
      details: [{ code: "not_found", message }],
    });
  }

  /** Includes changes by other servers; `undefined` when it was deleted. */
  addressOf(id: string): DestinationAddress | Promise<DestinationAddress | undefined> {
    return this.#addresses.get(id);
  }

  /** Call when a destination has changed on any server; `undefined` = all may have changed. */
  forget(id: string | undefined): void {
    if (id === undefined) this.#addresses.forgetAll();
    else this.#addresses.forget(id);
  }

  async #sealed(row: Pick<DestinationRow, "id" | "project_id">, headers: Headers) {
    const names = Object.keys(headers);
    return {
      header_names: JSON.stringify(names),
      headers: names.length === 0 ? null : await this.#envelopes.seal(JSON.stringify(headers), placeOf(row)),
    };
  }

  async #opened(row: Pick<DestinationRow, "headers" | "id" | "project_id">): Promise<Headers> {
    if (row.headers === null) return {};
    return JSON.parse(await this.#envelopes.unseal(row.headers, placeOf(row))) as Headers;
  }

  async #find(
    projectId: string,
    idOrName: string,
    from: Kysely<Tables> = this.#query,
  ): Promise<DestinationRow | undefined> {
    if (!isStorable(idOrName)) return undefined;
    const rows = await from
      .selectFrom("telemetry_destinations")
      .select(columns)
      .where("project_id", "=", projectId)
      .where((where) => where.or([where("id", "=", idOrName), where("name", "=", idOrName)]))
      .execute();
    return rows.find(({ id }) => id === idOrName) ?? rows[0];
  }

  async #existing(projectId: string, idOrName: string, from: Kysely<Tables> = this.#query): Promise<DestinationRow> {
    const row = await this.#find(projectId, idOrName, from);
    if (row === undefined) throw notFound(idOrName);
    return row;
  }
}
