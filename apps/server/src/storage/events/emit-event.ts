import type { Tables } from "@shoal/database";
import type { WebhookEvent } from "@shoal/schemas";
import { type Kysely, sql } from "kysely";

/** The data of each type of event. */
export type EventData = { readonly [Event in WebhookEvent as Event["type"]]: Event["data"] };

/** PostgreSQL stores no NUL characters and lone surrogates; long texts come from sites. */
const maxTextLength = 1024;
const storable = (_key: string, value: unknown): unknown =>
  typeof value === "string" ? value.slice(0, maxTextLength).replaceAll("\0", "\uFFFD").toWellFormed() : value;

/**
 * Stores a delivery of the event for each webhook of the project; without one, it costs a look into an index. The
 * database itself emits the ends of sessions, invocations, deployments and runs of flows, see `foundation/webhooks.ts`.
 *
 * @param query - the transaction of the change, so that the event exists if and only if the change does.
 * @param data - never contains secrets, values of fields, or codes.
 */
export async function emitEvent<Type extends keyof EventData>(
  query: Kysely<Tables>,
  projectId: string,
  event: { readonly type: Type; readonly data: EventData[Type] },
): Promise<void> {
  const data = JSON.stringify(event.data, storable);
  await sql`select shoal_emit(${projectId}, ${event.type}, ${data}::json)`.execute(query);
}
