import { createId } from "@shoal/primitives";
import { randomBytes } from "node:crypto";
import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { auth } from "./foundation/auth.ts";
import { console } from "./foundation/console.ts";
import { deployments } from "./foundation/deployments.ts";
import { functions } from "./foundation/functions.ts";
import { handoffs } from "./foundation/handoffs.ts";
import { invocations } from "./foundation/invocations.ts";
import { organization } from "./foundation/organization.ts";
import { resources } from "./foundation/resources.ts";
import { audit, service } from "./foundation/service.ts";
import { sessions } from "./foundation/sessions.ts";
import { usage } from "./foundation/usage.ts";
import { webhooks } from "./foundation/webhooks.ts";

/** Collations whose lower() handles all of Unicode, best first. `pg_c_utf8` exists since PostgreSQL 17. */
const unicodeCollations = ["pg_c_utf8", "und-x-icu", "C.utf8", "C.UTF-8", "en_US.utf8"];

async function unicodeCollation(query: Kysely<unknown>): Promise<string> {
  const { rows } = await sql<{ collname: string }>`
    select collname from pg_collation
    where collnamespace = 'pg_catalog'::regnamespace and collencoding in (-1, pg_char_to_encoding('UTF8'))
      and collname = any (${unicodeCollations})
    order by array_position(${unicodeCollations}::name[], collname) limit 1`.execute(query);
  return `pg_catalog."${rows[0]?.collname ?? "default"}"`;
}

export const foundation: Migration = {
  async up(query: Kysely<unknown>) {
    const collation = await unicodeCollation(query);
    const areas = [
      organization,
      console,
      resources,
      auth,
      sessions,
      usage,
      deployments,
      invocations,
      webhooks,
      handoffs,
      service,
      audit,
    ];
    for (const statement of [functions(collation), ...areas].flat()) await sql.raw(statement).execute(query);
    await sql`insert into organization (id) values (${createId()})`.execute(query);
    await sql`insert into projects (id, name, is_default) values (${createId()}, 'default', true)`.execute(query);
    await sql`insert into replica_secret (secret) values (${randomBytes(32)})`.execute(query);
    await sql`insert into audit_chain default values`.execute(query);
  },
};
