import type { Page } from "@shoal/contract";
import { liveViewLinkNotFound, tooManyLiveViewLinks } from "@shoal/contract/refusals";
import type { Database, Tables } from "@shoal/database";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { CreateLiveViewLink, ListLiveViewLinks } from "@shoal/schemas";
import { type Kysely, type Selectable, sql, type Transaction } from "kysely";
import type * as z from "zod/mini";
import { newestFirst, toPage } from "../../http/paging.ts";
import type { Sessions } from "../browsers/sessions.ts";

export type LiveViewLinkRow = Selectable<Tables["live_view_links"]>;

const maxLinks = 100;
/** Of links with several addresses. */
const sharedLabel = "debug address";
const now = sql<string>`clock_timestamp()`;

export interface LiveViewLinkParts {
  readonly database: Pick<Database, "onChange" | "query">;
  readonly sessions: Pick<Sessions, "get">;
}

interface WantedLink {
  readonly body: z.output<typeof CreateLiveViewLink>;
  readonly keyId: string;
}

/** Links to live views, which any server opens. */
export class LiveViewLinks {
  readonly #parts: LiveViewLinkParts;

  constructor(parts: LiveViewLinkParts) {
    this.#parts = parts;
  }

  /** @throws {ServiceError} 409 at the limit. */
  async create(projectId: string, idOrName: string, wanted: WantedLink): Promise<LiveViewLinkRow> {
    const { row: session } = await this.#parts.sessions.get(projectId, idOrName, false);
    const { query } = this.#parts.database;
    return query.transaction().execute(async (transaction) => {
      await lock(transaction, session.id);
      return insert(transaction, session, wanted);
    });
  }

  /**
   * A link of the key for repeated requests. The row lasts up to twice as long as this address.
   * @throws {ServiceError} 409 at the limit.
   */
  async share(projectId: string, idOrName: string, { body, keyId }: WantedLink): Promise<LiveViewLinkRow> {
    const { row: session } = await this.#parts.sessions.get(projectId, idOrName, false);
    const seconds = body.expires_in_seconds;
    const expiry = sql<string>`clock_timestamp() + make_interval(secs => ${seconds})`;
    const { query } = this.#parts.database;
    return query.transaction().execute(async (transaction) => {
      await lock(transaction, session.id);
      const present = await validOf(transaction, session.id)
        .selectAll()
        .select(expiry.as("expiry"))
        .where("key_id", "=", keyId)
        .where("scope", "=", body.scope)
        .where("label", "=", sharedLabel)
        .where("expires_at", ">=", expiry)
        .limit(1)
        .executeTakeFirst();
      if (present !== undefined) return { ...present, expires_at: present.expiry };
      const shared = { ...body, label: sharedLabel, expires_in_seconds: 2 * seconds };
      const row = await insert(transaction, session, { body: shared, keyId });
      return { ...row, expires_at: new Date(Date.parse(row.expires_at) - seconds * 1000).toISOString() };
    });
  }

  async list(
    projectId: string,
    idOrName: string,
    window: z.output<typeof ListLiveViewLinks>,
  ): Promise<Page<LiveViewLinkRow>> {
    const { row: session } = await this.#parts.sessions.get(projectId, idOrName, false);
    const rows = await newestFirst(this.#valid(session.id).selectAll(), window).execute();
    return toPage(rows, window, (row) => row);
  }

  /** @throws {ServiceError} 404. */
  async delete(projectId: string, idOrName: string, linkId: string): Promise<void> {
    const { row: session } = await this.#parts.sessions.get(projectId, idOrName, false);
    const deleted = await this.#parts.database.query
      .deleteFrom("live_view_links")
      .where("id", "=", linkId)
      .where("session_id", "=", session.id)
      .returning("id")
      .executeTakeFirst();
    if (deleted === undefined) throw ServiceError.of(liveViewLinkNotFound(linkId));
  }

  find(sessionId: string, id: string): Promise<LiveViewLinkRow | undefined> {
    return this.#valid(sessionId).selectAll().where("id", "=", id).executeTakeFirst();
  }

  /** @param listener - receives the id, or `undefined` if any may have changed. @returns a function that stops it. */
  onChange(listener: (id: string | undefined) => void): () => void {
    return this.#parts.database.onChange((change) => {
      if (change === undefined || change.table === "live_view_links") listener(change?.id);
    });
  }

  async sweep(): Promise<void> {
    await this.#parts.database.query.deleteFrom("live_view_links").where("expires_at", "<", now).execute();
  }

  #valid(sessionId: string) {
    return validOf(this.#parts.database.query, sessionId);
  }
}

function validOf(query: Kysely<Tables>, sessionId: string) {
  return query.selectFrom("live_view_links").where("session_id", "=", sessionId).where("expires_at", ">", now);
}

/** So that concurrent requests do not exceed the limit. */
async function lock(transaction: Transaction<Tables>, sessionId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`live view links of ${sessionId}`}, 0))`.execute(
    transaction,
  );
}

/** Under the lock. @throws {ServiceError} 409. */
async function insert(
  transaction: Transaction<Tables>,
  session: { readonly id: string; readonly project_id: string },
  { body, keyId }: WantedLink,
): Promise<LiveViewLinkRow> {
  const { count } = await validOf(transaction, session.id)
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  if (count >= maxLinks) throw ServiceError.of(tooManyLiveViewLinks(maxLinks));
  return transaction
    .insertInto("live_view_links")
    .values({
      id: createId(),
      project_id: session.project_id,
      session_id: session.id,
      key_id: keyId,
      scope: body.scope,
      label: body.label ?? null,
      created_at: now,
      expires_at: sql<string>`clock_timestamp() + make_interval(secs => ${body.expires_in_seconds})`,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}
