import type { Database, Tables } from "@shoal/database";
import type { AuditLogVerification } from "@shoal/schemas";
import { sql, type Transaction } from "kysely";
import type { Secrets } from "../secrets.ts";
import { type AuditNote, chained, hashOf } from "./entry.ts";

/** The log as a chain: written at its end, checked, cut off at its beginning. */
export interface AuditChain {
  /** Adds entries at the end, one writer at a time on whichever server. */
  append(notes: readonly AuditNote[]): Promise<void>;
  /** @param knownHead - `SEQUENCE:HASH` as an earlier call gave it. */
  verify(knownHead: string | undefined): Promise<AuditLogVerification>;
  /** Removes the entries before the first one that is not older than a moment. */
  dropBefore(moment: Date): Promise<void>;
}

type SealedEnds = Awaited<ReturnType<typeof readEnds>>;
type Ends = Omit<SealedEnds, "seal">;
type Problem = NonNullable<AuditLogVerification["problem"]>;

/** Key of the advisory lock of whoever writes: "shoa", and "l" and 4. */
const writing = sql`select pg_advisory_xact_lock(1936223073, 27652)`;
const sealPurpose = "audit log";
/** Entries that are read at a time. */
const batch = 2000;

function readEnds(transaction: Transaction<Tables>) {
  return transaction
    .selectFrom("audit_chain")
    .select(["first_sequence", "first_previous_hash", "last_sequence", "last_hash", "broken_at", "seal"])
    .executeTakeFirstOrThrow();
}

function textOf({ broken_at, first_previous_hash, first_sequence, last_hash, last_sequence }: Ends): string {
  return [first_sequence, first_previous_hash.toString("hex"), last_sequence, last_hash.toString("hex"), broken_at ?? ""].join(":");
}

function problem(kind: Problem["kind"], sequence: number, message: string): Problem {
  return { kind, sequence, message };
}

/** @param secrets - seal both ends of the chain, so that whoever can write to the database alone cannot make up another one. */
export function createAuditChain({ query }: Database, secrets: Secrets): AuditChain {
  async function setEnds(transaction: Transaction<Tables>, ends: Ends): Promise<void> {
    await transaction
      .updateTable("audit_chain")
      .set({ ...ends, seal: secrets.seal(textOf(ends), sealPurpose) })
      .execute();
  }

  function isSealed({ seal, ...ends }: SealedEnds): boolean {
    // Before the first entry there was nothing to seal.
    if (seal === null) return ends.last_sequence === 0;
    return secrets.unseal(seal, sealPurpose) === textOf(ends);
  }

  /** The next seal must not hide that the last one was false: since when, until those entries are gone. */
  const brokenAt = (ends: SealedEnds): number | null => ends.broken_at ?? (isSealed(ends) ? null : ends.last_sequence + 1);

  return {
    async append(notes) {
      await query.transaction().execute(async (transaction) => {
        await writing.execute(transaction);
        const ends = await readEnds(transaction);
        const rows = chained(notes, { sequence: ends.last_sequence, hash: ends.last_hash });
        const last = rows.at(-1);
        if (last === undefined) return;
        // One parameter, whatever the number of rows: the statement is prepared once.
        const json = JSON.stringify(
          rows.map((row) => ({ ...row, previous_hash: `\\x${row.previous_hash.toString("hex")}`, hash: `\\x${row.hash.toString("hex")}` })),
        );
        await sql`insert into audit_logs select * from json_populate_recordset(null::audit_logs, ${json}::json)`.execute(transaction);
        const { first_previous_hash, first_sequence } = ends;
        await setEnds(transaction, {
          first_sequence,
          first_previous_hash,
          last_sequence: last.sequence,
          last_hash: last.hash,
          broken_at: brokenAt(ends),
        });
      });
    },

    async verify(knownHead) {
      return query
        .transaction()
        .setIsolationLevel("repeatable read")
        .execute(async (transaction): Promise<AuditLogVerification> => {
          const ends = await readEnds(transaction);
          const [knownSequence, knownHash] = knownHead?.split(":") ?? [];
          let expected = ends.first_sequence;
          let previous = ends.first_previous_hash;
          let entries = 0;
          const found: { known?: string; problem?: Problem } = {};
          const note = (what: Problem): void => {
            found.problem ??= what;
          };
          for (;;) {
            const rows = await transaction
              .selectFrom("audit_logs")
              .selectAll()
              .where("sequence", ">=", expected)
              .orderBy("sequence")
              .limit(batch)
              .execute();
            for (const row of rows) {
              if (row.sequence !== expected)
                note(problem("missing", expected, `Entries ${String(expected)} to ${String(row.sequence - 1)} are missing.`));
              else if (!row.previous_hash.equals(previous))
                note(
                  problem("changed", row.sequence, `Entry ${String(row.sequence)} does not follow the one before it: one of the two was changed.`),
                );
              if (!row.hash.equals(hashOf(row.previous_hash, row)))
                note(problem("changed", row.sequence, `Entry ${String(row.sequence)} (${row.id}) is not as it was written.`));
              if (String(row.sequence) === knownSequence) found.known = row.hash.toString("hex");
              previous = row.hash;
              expected = row.sequence + 1;
              entries += 1;
            }
            if (rows.length < batch) break;
          }
          if (expected !== ends.last_sequence + 1)
            note(
              problem(
                expected > ends.last_sequence ? "head" : "missing",
                expected,
                `The log ends before entry ${String(expected)}, and should end with ${String(ends.last_sequence)}.`,
              ),
            );
          else if (!previous.equals(ends.last_hash))
            note(problem("head", ends.last_sequence, `Entry ${String(ends.last_sequence)} is not the one that the log was closed with.`));
          const broken = brokenAt(ends);
          if (broken !== null) {
            note(
              problem(
                "head",
                broken,
                `Before entry ${String(broken)}, the seal of the log's ends was not the service's own: they were changed in the database, or secret_key was another one.`,
              ),
            );
          }
          if (knownSequence !== undefined && knownHash !== found.known && Number(knownSequence) >= ends.first_sequence) {
            note(problem("known_head", Number(knownSequence), `The log does not hold entry ${knownSequence} as it was noted.`));
          }
          const head = ends.last_sequence === 0 ? "" : `${String(ends.last_sequence)}:${ends.last_hash.toString("hex")}`;
          return { valid: found.problem === undefined, entries, head, ...(found.problem && { problem: found.problem }) };
        });
    },

    async dropBefore(moment) {
      await query.transaction().execute(async (transaction) => {
        await writing.execute(transaction);
        const ends = await readEnds(transaction);
        const kept = await transaction
          .selectFrom("audit_logs")
          .select(["sequence", "previous_hash"])
          .where("at", ">=", moment.toISOString())
          .orderBy("sequence")
          .limit(1)
          .executeTakeFirst();
        const first = kept ?? { sequence: ends.last_sequence + 1, previous_hash: ends.last_hash };
        if (first.sequence <= ends.first_sequence) return;
        const broken = brokenAt(ends);
        await transaction.deleteFrom("audit_logs").where("sequence", "<", first.sequence).execute();
        await setEnds(transaction, {
          first_sequence: first.sequence,
          first_previous_hash: first.previous_hash,
          last_sequence: ends.last_sequence,
          last_hash: ends.last_hash,
          broken_at: broken !== null && broken < first.sequence ? null : broken,
        });
      });
    },
  };
}
