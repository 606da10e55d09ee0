import type { Tables } from "@shoal/database";
import type { Transaction } from "kysely";
import type { AuditHead } from "./head-witness.ts";

export interface LogEnds {
  readonly first_sequence: number;
  readonly first_previous_hash: Buffer;
  readonly last_sequence: number;
  readonly last_hash: Buffer;
}

/** For entries that retention removed, checks the sealed ends. */
export async function holdsHead(
  transaction: Transaction<Tables>,
  { hash, sequence }: AuditHead,
  ends: LogEnds,
): Promise<boolean> {
  if (sequence === ends.last_sequence) return ends.last_hash.toString("hex") === hash;
  if (sequence > ends.last_sequence) return false;
  if (sequence === ends.first_sequence - 1) return ends.first_previous_hash.toString("hex") === hash;
  if (sequence < ends.first_sequence) return true;
  const row = await transaction
    .selectFrom("audit_logs")
    .select("hash")
    .where("sequence", "=", sequence)
    .executeTakeFirst();
  return row?.hash.toString("hex") === hash;
}
