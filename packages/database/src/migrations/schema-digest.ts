import { createHash } from "node:crypto";
import { migrations } from "./all.ts";

/** Names the tables of this version, for copies of a migrated database. Hexadecimal. */
export function schemaDigest(): string {
  const digest = createHash("sha256");
  for (const [name, migration] of Object.entries(migrations))
    digest.update(`${name}\n${String(Reflect.get(migration, "up"))}\n`);
  return digest.digest("hex").slice(0, 16);
}
