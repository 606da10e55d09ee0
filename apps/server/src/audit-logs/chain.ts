import type { Database, Tables } from "@shoal/database";
import type { AuditLogVerification } from "@shoal/schemas";
import { sql, type Transaction } from "kysely";
import type { Secrets } from "../secrets.ts";
import type { Log } from "../log.ts";
import { type AuditNote, chained, hashOf } from "./entry.ts";
import type { AuditHead, HeadWitness } from "./head-witness.ts";
import { holdsHead } from "./witness-check.ts";

/** The log as a chain: written at its end, checked, cut off at its beginning. */
export interface AuditChain {
  /** Adds entries at the end, one writer at a time on whichever server. */
  append(notes: readonly AuditNote[]): Promise<void>;
  /** @param knownHead - `SEQUENCE:HASH` as an earlier call gave it. */
  verify(knownHead: string | undefined): Promise<AuditLogVerification>;
  /** Takes the log as it is now for whole, after a restore. @returns the head that is given up; `undefined` when there is none. */
  acceptHead(): Promise<string | undefined>;
  /** Logs an error when the log does not hold the head that this server keeps. */
  checkHead(): Promise<void>;
  /** Removes the entries before the first one that is not older than a moment. */
  dropBefore(moment: Date): Promise<void>;
}

type SealedEnds = NonNullable<Awaited<ReturnType<typeof readEnds>>>;
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
    .executeTakeFirst();
}

/** Makes the removed row of the log's ends again, from the entries that are left, so that the log goes on. It says that the log is broken. */
async function remakeEnds(transaction: Transaction<Tables>): Promise<SealedEnds> {
  await sql`
    insert into audit_chain (first_sequence, first_previous_hash, last_sequence, last_hash, broken_at)
    select coalesce(min(sequence), 1), coalesce((array_agg(previous_hash order by sequence))[1], decode(repeat('00', 32), 'hex')),
      coalesce(max(sequence), 0), coalesce((array_agg(hash order by sequence desc))[1], decode(repeat('00', 32), 'hex')), coalesce(max(sequence), 0) + 1
    from audit_logs`.execute(transaction);
  const ends = await readEnds(transaction);
  if (ends === undefined) throw new Error("The row of the audit log's ends could not be made again.");
  return ends;
}

const headOf = ({ last_hash, last_sequence }: Ends): AuditHead => ({ sequence: last_sequence, hash: last_hash.toString("hex") });

function headText({ hash, sequence }: AuditHead): string {
  return `${String(sequence)}:${hash}`;
}

/** What `verify` says of the head that a server keeps, where the log does not hold it. */
function witnessProblem(head: AuditHead | "unreadable"): Problem {
  const after = "After a restore from a backup, start that server once with --accept-audit-head.";
  return head === "unreadable"
    ? problem("head", 0, `The file audit-head of the server that answers is damaged, or secret_key was another one. ${after}`)
    : problem(
        "truncated",
        head.sequence,
        `The log does not hold entry ${String(head.sequence)}, which the server that answers has seen: entries were removed, or the database was put back to an earlier time. ${after}`,
      );
}

function textOf({ broken_at, first_previous_hash, first_sequence, last_hash, last_sequence }: Ends): string {
  return [first_sequence, first_previous_hash.toString("hex"), last_sequence, last_hash.toString("hex"), broken_at ?? ""].join(":");
}

function problem(kind: Problem["kind"], sequence: number, message: string): Problem {
  return { kind, sequence, message };
}

/**
 * @param parts.secrets - seal both ends of the chain, so that write access to the database alone is not enough to make up another chain.
 * @param parts.witness - keeps the newest entry outside the database, so that a shorter log shows. Without it, only `known_head` shows that.
 */
export function createAuditChain(
  { query }: Database,
  parts: { readonly secrets: Secrets; readonly witness?: HeadWitness; readonly log?: Log },
): AuditChain {
  const { secrets, witness, log } = parts;
  let isReported = false;

  /** Whether the log holds the head that this server keeps. If not, that head stays until an operator accepts another one. */
  async function holdsWitness(transaction: Transaction<Tables>, ends: Ends): Promise<boolean> {
    const head = witness?.head;
    if (head === undefined || (head !== "unreadable" && (await holdsHead(transaction, head, ends)))) return true;
    if (!isReported) log?.error({ head, last_sequence: ends.last_sequence }, witnessProblem(head).message);
    isReported = true;
    return false;
  }

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
      const head = await query.transaction().execute(async (transaction) => {
        await writing.execute(transaction);
        const ends = (await readEnds(transaction)) ?? (await remakeEnds(transaction));
        const isHeld = await holdsWitness(transaction, ends);
        const rows = chained(notes, { sequence: ends.last_sequence, hash: ends.last_hash });
        const last = rows.at(-1);
        if (last === undefined) return undefined;
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
        return isHeld ? { sequence: last.sequence, hash: last.hash.toString("hex") } : undefined;
      });
      if (head !== undefined) await witness?.keep(head);
    },

    async checkHead() {
      await query.transaction().execute(async (transaction) => {
        await writing.execute(transaction);
        const ends = await readEnds(transaction);
        if (ends === undefined || !(await holdsWitness(transaction, ends))) return;
        // A server that begins, or has not written for a while.
        if (ends.last_sequence > 0 && isSealed(ends)) await witness?.keep(headOf(ends));
      });
    },

    async acceptHead() {
      const given = witness?.head;
      const ends = await query.transaction().execute(async (transaction) => {
        await writing.execute(transaction);
        return (await readEnds(transaction)) ?? (await remakeEnds(transaction));
      });
      await witness?.keep(headOf(ends));
      isReported = false;
      return given === undefined || given === "unreadable" ? given : headText(given);
    },

    async verify(knownHead) {
      // Before the snapshot: entries that are written meanwhile raise the head.
      const head = witness?.head;
      return query
        .transaction()
        .setIsolationLevel("repeatable read")
        .execute(async (transaction): Promise<AuditLogVerification> => {
          const ends = await readEnds(transaction);
          if (ends === undefined)
            return { valid: false, entries: 0, head: "", problem: problem("head", 0, "The row that holds the ends of the log was removed.") };
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
          if (head === "unreadable" || (head !== undefined && !(await holdsHead(transaction, head, ends)))) note(witnessProblem(head));
          if (knownSequence !== undefined && knownHash !== found.known && Number(knownSequence) >= ends.first_sequence) {
            note(problem("known_head", Number(knownSequence), `The log does not hold entry ${knownSequence} as it was noted.`));
          }
          return {
            valid: found.problem === undefined,
            entries,
            head: ends.last_sequence === 0 ? "" : headText(headOf(ends)),
            ...(found.problem && { problem: found.problem }),
          };
        });
    },

    async dropBefore(moment) {
      await query.transaction().execute(async (transaction) => {
        await writing.execute(transaction);
        const ends = await readEnds(transaction);
        if (ends === undefined) return;
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
