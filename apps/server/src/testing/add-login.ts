import type { AuthFlowsTable, Database } from "@shoal/database";
import { createId } from "@shoal/primitives";
import type { Insertable, Selectable } from "kysely";
import { connectionRow } from "./connection-row.ts";

/** Adds a running login of a new connection to the default project, without a browser. */
export async function addLogin(
  { query }: Pick<Database, "query">,
  { domain = "example.com", ...flow }: Partial<Insertable<AuthFlowsTable>> & { readonly domain?: string } = {},
): Promise<Selectable<AuthFlowsTable>> {
  const { id: project_id } = await query.selectFrom("projects").select("id").executeTakeFirstOrThrow();
  const [id, connection_id, profile_id] = [createId(), createId(), createId()];
  await query
    .insertInto("profiles")
    .values({ id: profile_id, project_id, name: `shopper ${profile_id}` })
    .execute();
  await query
    .insertInto("auth_connections")
    .values({ ...connectionRow({ id: connection_id, project_id, profile_id, domain }), flow_id: id })
    .execute();
  return query
    .insertInto("auth_flows")
    .values({
      id,
      connection_id,
      type: "login",
      status: "IN_PROGRESS",
      step: "DISCOVERING",
      expires_at: new Date(Date.now() + 20 * 60_000),
      ...flow,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}
