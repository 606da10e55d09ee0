import type { Page } from "@shoal/contract";
import { containsFolded, type Database, folded, type Tables } from "@shoal/database";
import type { OutboundRule } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import type { CreateOtlpDestination, ListOtlpDestinations, OtlpDestination, UpdateOtlpDestination } from "@shoal/schemas";
import type { Kysely } from "kysely";
import type * as z from "zod/mini";
import { isUniqueViolation } from "../database-errors.ts";
import { createId } from "../ids.ts";
import { emptyPage, isStorable, newestFirst, toPage } from "../paging.ts";
import { badField } from "../bad-field.ts";
import { createReadCache } from "../read-cache.ts";
import type { Secrets } from "../secrets.ts";
import { changedHeaders, checkEndpoint, type Headers } from "./destination-rules.ts";

/** Where requests name a destination. */
export const destinationField = "body.telemetry.export.otlp.destination";

/** What is needed to send something to a destination. */
export interface DestinationAddress {
  readonly id: string;
  /** Base address. */
  readonly endpoint: string;
  /** `undefined` = they cannot be read: the service's secret is another one than when they were stored. */
  readonly headers: Headers | undefined;
}

/** The destinations of telemetry, of every project. */
export interface TelemetryDestinations {
  create(projectId: string, request: z.output<typeof CreateOtlpDestination>): Promise<OtlpDestination>;
  list(projectId: string, filter: z.output<typeof ListOtlpDestinations>): Promise<Page<OtlpDestination>>;
  /** By id, or else by name. */
  get(projectId: string, idOrName: string): Promise<OtlpDestination>;
  update(projectId: string, idOrName: string, request: z.output<typeof UpdateOtlpDestination>): Promise<OtlpDestination>;
  /** @throws {ServiceError} 409 `conflict` naming a session or pool that uses it. */
  delete(projectId: string, idOrName: string): Promise<void>;
  /** The id of the destination that a session's telemetry names. @throws {ServiceError} 404 naming the field. */
  choose(projectId: string, choice: { readonly id?: string | undefined; readonly name?: string | undefined }): Promise<string>;
  /** Where to send something; `undefined` when the destination is gone. As it is now: changes of other servers are heard. */
  addressOf(id: string): DestinationAddress | Promise<DestinationAddress | undefined>;
  /** A destination was changed by some server; `undefined` = any may have been. */
  forget(id: string | undefined): void;
}

interface DestinationRow {
  readonly id: string;
  readonly name: string;
  readonly endpoint: string;
  readonly description: string | null;
  readonly header_names: string[];
  readonly headers: Buffer | null;
  readonly created_at: string;
  readonly updated_at: string;
}

const columns = ["id", "name", "endpoint", "description", "header_names", "headers", "created_at", "updated_at"] as const;

function toDestination(row: DestinationRow): OtlpDestination {
  return {
    id: row.id,
    name: row.name,
    endpoint: row.endpoint,
    ...(row.description !== null && { description: row.description }),
    // Values are secrets.
    headers: Object.fromEntries(row.header_names.map((name) => [name, ""])),
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

/** An empty description is none. */
function textOrNull(text: string | undefined): string | null {
  return text === undefined || text === "" ? null : text;
}

function notFound(idOrName: string): ServiceError {
  return new ServiceError(
    404,
    "not_found",
    `Telemetry destination ${idOrName} was not found in this project. List the destinations with telemetry.destinations.list, or create it with telemetry.destinations.create.`,
  );
}

function nameTaken(name: string): ServiceError {
  return new ServiceError(
    409,
    "name_taken",
    `A telemetry destination named ${JSON.stringify(name)} exists in this project already. Choose another name, or use that destination.`,
  );
}

/** What uses a destination, in words; `undefined` = nothing. Its row must be locked. */
async function userOf(transaction: Kysely<Tables>, id: string): Promise<string | undefined> {
  const pool = await transaction
    .selectFrom("browser_pools")
    .select(["id", "name"])
    .where("telemetry_destination_id", "=", id)
    .limit(1)
    .executeTakeFirst();
  if (pool !== undefined)
    return `browser pool ${pool.name ?? pool.id} sends the telemetry of its browsers there. Give the pool another one with browserPools.update`;
  const session = await transaction
    .selectFrom("sessions")
    .select(["id", "pool_id", "pool_state"])
    .where("telemetry_destination_id", "=", id)
    .where("ended_at", "is", null)
    .limit(1)
    .executeTakeFirst();
  if (session === undefined) return undefined;
  if (session.pool_state !== null && session.pool_state !== "leased")
    return `browsers that wait in pool ${session.pool_id ?? ""} were started with it. Replace them with browserPools.flush`;
  return `running browser ${session.id} sends its telemetry there. End it, or stop that with browsers.update and telemetry.export`;
}

export function createTelemetryDestinations(parts: {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly rule: OutboundRule;
  readonly isLive: () => boolean;
}): TelemetryDestinations {
  const { secrets, rule } = parts;
  const { query } = parts.database;
  const purposeOf = (id: string) => `headers of telemetry destination ${id}`;

  const sealed = (id: string, headers: Headers) => {
    const names = Object.keys(headers);
    return { header_names: JSON.stringify(names), headers: names.length === 0 ? null : secrets.seal(JSON.stringify(headers), purposeOf(id)) };
  };
  function opened({ id, headers }: Pick<DestinationRow, "id" | "headers">): Headers | undefined {
    if (headers === null) return {};
    const text = secrets.unseal(headers, purposeOf(id));
    // It was sealed above.
    return text === undefined ? undefined : (JSON.parse(text) as Headers);
  }

  async function find(projectId: string, idOrName: string, from: Kysely<Tables> = query): Promise<DestinationRow | undefined> {
    if (!isStorable(idOrName)) return undefined;
    const rows = await from
      .selectFrom("telemetry_destinations")
      .select(columns)
      .where("project_id", "=", projectId)
      .where((where) => where.or([where("id", "=", idOrName), where("name", "=", idOrName)]))
      .execute();
    return rows.find(({ id }) => id === idOrName) ?? rows[0];
  }
  async function existing(projectId: string, idOrName: string, from: Kysely<Tables> = query): Promise<DestinationRow> {
    const row = await find(projectId, idOrName, from);
    if (row === undefined) throw notFound(idOrName);
    return row;
  }

  const addresses = createReadCache<DestinationAddress>({
    max: 10_000,
    isLive: parts.isLive,
    isPrivate: parts.database.isJoined,
    async load(id) {
      const row = await query.selectFrom("telemetry_destinations").select(columns).where("id", "=", id).executeTakeFirst();
      return row && { id, endpoint: row.endpoint, headers: opened(row) };
    },
    idOf: ({ id }) => id,
  });

  return {
    async create(projectId, request) {
      await checkEndpoint(request.endpoint, rule);
      if (!isStorable(request.description)) throw badField("description", "must not hold a NUL character");
      const id = createId();
      try {
        const row = await query
          .insertInto("telemetry_destinations")
          .values({
            id,
            project_id: projectId,
            name: request.name,
            endpoint: request.endpoint,
            description: textOrNull(request.description),
            ...sealed(id, changedHeaders({}, request.headers ?? {})),
          })
          .returning(columns)
          .executeTakeFirstOrThrow();
        return toDestination(row);
      } catch (error) {
        throw isUniqueViolation(error) ? nameTaken(request.name) : error;
      }
    },

    async list(projectId, { query: part, name, limit, offset }) {
      if (!isStorable(part) || !isStorable(name)) return emptyPage();
      let rows = query.selectFrom("telemetry_destinations").select(columns).where("project_id", "=", projectId);
      if (part !== undefined) rows = rows.where((where) => where.or([containsFolded("name_folded", part), where("id", "=", part)]));
      if (name !== undefined) rows = rows.where("name_folded", "=", folded(name));
      const found = await newestFirst(rows, { limit, offset }).execute();
      return toPage(found, { limit, offset }, toDestination);
    },

    get: async (projectId, idOrName) => toDestination(await existing(projectId, idOrName)),

    async update(projectId, idOrName, request) {
      const { id } = await existing(projectId, idOrName);
      if (request.endpoint !== undefined) await checkEndpoint(request.endpoint, rule);
      if (!isStorable(request.description)) throw badField("description", "must not hold a NUL character");
      try {
        const row = await query.transaction().execute(async (transaction) => {
          // Two changes of headers at once must both be in what comes of it.
          const before = await transaction.selectFrom("telemetry_destinations").select(columns).where("id", "=", id).forUpdate().executeTakeFirst();
          if (before === undefined) throw notFound(idOrName);
          const present = request.headers === undefined ? undefined : opened(before);
          if (request.headers !== undefined && present === undefined) {
            throw new ServiceError(
              500,
              "internal_error",
              `The headers of telemetry destination ${id} cannot be read: the service's secret_key is another one than when they were stored. Create the destination again.`,
            );
          }
          return transaction
            .updateTable("telemetry_destinations")
            .set({
              ...(request.name !== undefined && { name: request.name }),
              ...(request.endpoint !== undefined && { endpoint: request.endpoint }),
              ...(request.description !== undefined && { description: textOrNull(request.description) }),
              ...(present !== undefined && sealed(id, changedHeaders(present, request.headers ?? {}))),
              updated_at: new Date(),
            })
            .where("id", "=", id)
            .returning(columns)
            .executeTakeFirstOrThrow();
        });
        addresses.forget(id);
        return toDestination(row);
      } catch (error) {
        throw request.name !== undefined && isUniqueViolation(error) ? nameTaken(request.name) : error;
      }
    },

    async delete(projectId, idOrName) {
      const { id } = await existing(projectId, idOrName);
      await query.transaction().execute(async (transaction) => {
        // Whoever stores a session with it waits for this lock, or has it, and then the session is seen here.
        const row = await transaction.selectFrom("telemetry_destinations").select("id").where("id", "=", id).forUpdate().executeTakeFirst();
        if (row === undefined) throw notFound(idOrName);
        const user = await userOf(transaction, id);
        if (user !== undefined) throw new ServiceError(409, "conflict", `Telemetry destination ${idOrName} is in use: ${user}.`);
        await transaction.deleteFrom("telemetry_destinations").where("id", "=", id).execute();
      });
      addresses.forget(id);
    },

    async choose(projectId, { id, name }) {
      const wanted = id ?? name ?? "";
      const row = isStorable(wanted)
        ? await query
            .selectFrom("telemetry_destinations")
            .select("id")
            .where("project_id", "=", projectId)
            .where(id === undefined ? "name" : "id", "=", wanted)
            .executeTakeFirst()
        : undefined;
      if (row !== undefined) return row.id;
      const message = `${destinationField}: telemetry destination ${wanted} was not found in this project`;
      throw new ServiceError(
        404,
        "not_found",
        `${message}. List the destinations with telemetry.destinations.list, or create it with telemetry.destinations.create.`,
        { details: [{ code: "not_found", message }] },
      );
    },

    addressOf: (id) => addresses.get(id),
    forget(id) {
      if (id === undefined) addresses.forgetAll();
      else addresses.forget(id);
    },
  };
}
