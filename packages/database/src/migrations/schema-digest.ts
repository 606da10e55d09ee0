import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import type { Migration } from "kysely/migration";
import { createHash } from "node:crypto";
import { findBinaries } from "../embedded/binaries.ts";
import { migrations } from "./all.ts";

/**
 * Names the tables and the PostgreSQL of this version, for copies of a migrated embedded database. Hexadecimal.
 * @throws {DatabaseError} `embedded_unavailable`.
 */
export async function schemaDigest(of: Readonly<Record<string, Migration>> = migrations): Promise<string> {
  const { version } = await findBinaries(process.platform, process.arch);
  const digest = createHash("sha256").update(version);
  const query = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (database) => new PostgresIntrospector(database),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    // Without the parameters: some are random.
    log(event) {
      digest.update(`${event.query.sql}\n`);
    },
  });
  for (const [name, migration] of Object.entries(of)) {
    digest.update(`${name}\n`);
    await migration.up(query);
  }
  return digest.digest("hex").slice(0, 16);
}
