import type { Page } from "@shoal/contract";
import { maxWebhooks, tooManyWebhooks, webhookNotFound } from "@shoal/contract/refusals";
import type { Database, Tables } from "@shoal/database";
import type { OutboundRule } from "@shoal/placement";
import { createId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { CreateWebhook, ListWebhooks, RotateWebhookSecret, UpdateWebhook, Webhook } from "@shoal/schemas";
import { type Kysely, sql, type Transaction } from "kysely";
import type * as z from "zod/mini";
import { emptyPage, isStorable, newestFirst, toPage } from "../http/paging.ts";
import { containing } from "../storage/like.ts";
import { newSecret, type SigningSecrets } from "./signing-secrets.ts";
import { checkWebhookUrl } from "./webhook-address.ts";
import { toWebhook, type WebhookRow } from "./webhook-row.ts";

export interface WebhooksParts {
  readonly database: Pick<Database, "query">;
  readonly rule: OutboundRule;
  readonly secrets: SigningSecrets;
}

/** The operations on webhooks. */
export class Webhooks {
  readonly #query: Database["query"];
  readonly #rule: OutboundRule;
  readonly #secrets: SigningSecrets;

  constructor({ database, rule, secrets }: WebhooksParts) {
    this.#query = database.query;
    this.#rule = rule;
    this.#secrets = secrets;
  }

  /** @throws {ServiceError} 400, 409. */
  async create(projectId: string, request: z.output<typeof CreateWebhook>): Promise<Webhook> {
    const { description, event_types, secret = newSecret() } = request;
    const url = await checkWebhookUrl(request.url, this.#rule);
    const ref = { id: createId(), project_id: projectId };
    const sealed = await this.#secrets.seal(ref, secret);
    return this.#query.transaction().execute(async (transaction) => {
      await admit(transaction, projectId);
      const row = await transaction
        .insertInto("webhooks")
        .values({
          ...ref,
          url: url.href,
          host: url.host,
          event_types: [...new Set(event_types)],
          description: textOrNull(description),
          secret: sealed,
        })
        .returningAll()
        .executeTakeFirstOrThrow();
      return { ...toWebhook(row), secret };
    });
  }

  async list(projectId: string, filter: z.output<typeof ListWebhooks>): Promise<Page<Webhook>> {
    const { query: part } = filter;
    if (!isStorable(part)) return emptyPage();
    let rows = this.#query.selectFrom("webhooks").selectAll().where("project_id", "=", projectId);
    if (part !== undefined)
      rows = rows.where((where) =>
        where.or([
          where("url", "ilike", containing(part)),
          where("description", "ilike", containing(part)),
          where("id", "=", part),
        ]),
      );
    return toPage(await newestFirst(rows, filter).execute(), filter, toWebhook);
  }

  /** @throws {ServiceError} 404. */
  async get(projectId: string, id: string): Promise<Webhook> {
    return toWebhook(await existingWebhook(this.#query, projectId, id));
  }

  /** @throws {ServiceError} 400, 404. */
  async update(projectId: string, id: string, request: z.output<typeof UpdateWebhook>): Promise<Webhook> {
    const { description, enabled, event_types } = request;
    await existingWebhook(this.#query, projectId, id);
    const url = request.url === undefined ? undefined : await checkWebhookUrl(request.url, this.#rule);
    const row = await this.#query
      .updateTable("webhooks")
      .set({
        ...(url && { url: url.href, host: url.host, failing_since: null }),
        ...(event_types && { event_types: [...new Set(event_types)] }),
        ...(description !== undefined && { description: textOrNull(description) }),
        // Its failures before count no longer.
        ...(enabled !== undefined && { enabled, disabled_reason: null, ...(enabled && { failing_since: null }) }),
        updated_at: new Date(),
      })
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) throw ServiceError.of(webhookNotFound(id));
    if (enabled === true) await sql`select pg_notify('shoal_changes', 'webhook_deliveries:')`.execute(this.#query);
    return toWebhook(row);
  }

  /** @throws {ServiceError} 404. */
  async delete(projectId: string, id: string): Promise<void> {
    await existingWebhook(this.#query, projectId, id);
    await this.#query.deleteFrom("webhooks").where("id", "=", id).execute();
    this.#secrets.forget(id);
  }

  /** @throws {ServiceError} 404. */
  async rotateSecret(projectId: string, id: string, request: z.output<typeof RotateWebhookSecret>): Promise<Webhook> {
    const { grace_seconds, secret = newSecret() } = request;
    const ref = { id, project_id: projectId };
    const { secret: present } = await existingWebhook(this.#query, projectId, id);
    const sealed = await this.#secrets.seal(ref, secret);
    const previous = grace_seconds === 0 ? null : await this.#secrets.sealAsPrevious(ref, present);
    const row = await this.#query
      .updateTable("webhooks")
      .set({
        secret: sealed,
        previous_secret: previous,
        previous_secret_expires_at: previous && new Date(Date.now() + grace_seconds * 1000),
        updated_at: new Date(),
      })
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirst();
    if (row === undefined) throw ServiceError.of(webhookNotFound(id));
    this.#secrets.forget(id);
    return { ...toWebhook(row), secret };
  }
}

/** @throws {ServiceError} 404. */
export async function existingWebhook(query: Kysely<Tables>, projectId: string, id: string): Promise<WebhookRow> {
  const row = isStorable(id)
    ? await query
        .selectFrom("webhooks")
        .selectAll()
        .where("id", "=", id)
        .where("project_id", "=", projectId)
        .executeTakeFirst()
    : undefined;
  if (row === undefined) throw ServiceError.of(webhookNotFound(id));
  return row;
}

/** Under a lock, so that concurrent requests do not exceed the limit. @throws {ServiceError} 409. */
async function admit(transaction: Transaction<Tables>, projectId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(1936223077, hashtext(${projectId}))`.execute(transaction);
  const { count } = await transaction
    .selectFrom("webhooks")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("project_id", "=", projectId)
    .executeTakeFirstOrThrow();
  if (count >= maxWebhooks) throw ServiceError.of(tooManyWebhooks());
}

const textOrNull = (text: string | undefined): string | null => (text === undefined || text === "" ? null : text);
