import { sql } from "kysely";
import type { Migration } from "../migrate.ts";

/** Certificates of a proxy's own authority, PEM. They are no secret. */
export const proxyAuthorities: Migration = {
  id: "0014_proxy_authorities",
  async up(query) {
    await sql`alter table proxies add column ca_bundle text collate "C"`.execute(query);
  },
};
