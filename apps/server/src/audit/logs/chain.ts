import type { Database, Tables } from "@shoal/database";
import type { AuditLogVerification } from "@shoal/schemas";
import { type Selectable, sql, type Transaction } from "kysely";
import { databaseTimeMs } from "../../storage/database-time.ts";
import type { Secrets } from "../../storage/secrets.ts";
import type { Log } from "../../log/log.ts";
import { type AuditNote, chained, hashOf } from "./entry.ts";
import type { AuditHead, HeadWitness } from "./head-witness.ts";
import { holdsHead } from "./witness-check.ts";

type SealedEnds = NonNullable<Awaited<ReturnType<typeof readEnds>>>;
type Ends = Omit<SealedEnds, "seal">;
type Problem = NonNullable<AuditLogVerification["problem"]>;

/** Advisory lock for writers: "shoa", and "l" and 4. */
const writing = sql`select pg_advisory_xact_lock(1936223073, 27652)`;
const sealPurpose = "audit log";
const batch = 2000;
const dayMs = 86_400_000;

function readEnds(transaction: Transaction<Tables>) {
  return transaction
    .selectFrom("audit_chain")
    .select(["first_sequence", "first_previous_hash", "last_sequence", "last_hash", "broken_at", "seal"])
    .executeTakeFirst();
}

/** Recreates the deleted row from the remaining entries, marked as broken, so that the log can continue. */
async function remakeEnds(transaction: Transaction<Tables>): Promise<SealedEnds> {
  await sql`
    insert into audit_chain (first_sequence, first_previous_hash, last_sequence, last_hash, broken_at)
    select coalesce(min(sequence), 1), coalesce((array_agg(previous_hash order by sequence))[1], decode(repeat('00', 32), 'hex')),
      coalesce(max(sequence), 0), coalesce((array_agg(hash order by sequence desc))[1], decode(repeat('00', 32), 'hex')), coalesce(max(sequence), 0) + 1
    from audit_logs`.execute(transaction);
  const ends = await readEnds(transaction);
  if (ends === undefined) throw new Error("The row of the ends of the audit log could not be recreated.");
  return ends;
}

const headOf = ({ last_hash, last_sequence }: Ends): AuditHead => ({
  sequence: last_sequence,
  hash: last_hash.toString("hex"),
});

function headText({ hash, sequence }: AuditHead): string {
  return `${String(sequence)}:${hash}`;
}

function witnessProblem(head: AuditHead | "unreadable"): Problem {
  const after = "After a restore from a backup, start that server once with --accept-audit-head.";
  return head === "unreadable"
    ? problem(
        "head",
        0,
        `The file audit-head of the answering server is damaged, or its secret_key has changed. ${after}`,
      )
    : problem(
        "truncated",
        head.sequence,
        `The log does not contain entry ${String(head.sequence)}, which the answering server has seen: entries were removed, or the database was restored to an earlier state. ${after}`,
      );
}

function textOf({ broken_at, first_previous_hash, first_sequence, last_hash, last_sequence }: Ends): string {
  return [
    first_sequence,
    first_previous_hash.toString("hex"),
    last_sequence,
    last_hash.toString("hex"),
    broken_at ?? "",
  ].join(":");
}

function problem(kind: Problem["kind"], sequence: number, message: string): Problem {
  return { kind, sequence, message };
}

function isSealedWith(secrets: Secrets, { seal, ...ends }: SealedEnds): boolean {
  // The row is not sealed before the first entry.
  if (seal === null) return ends.last_sequence === 0;
  return secrets.unsealStored(seal, sealPurpose) === textOf(ends);
}

/**
 * True if the service of this database started before, with a secret that is unknown. The first start writes an entry.
 * @param secrets - the known ones.
 */
export async function hasUnknownSecret(query: Database["query"], secrets: Secrets): Promise<boolean> {
  const ends = await query.transaction().execute(readEnds);
  return ends !== undefined && !isSealedWith(secrets, ends);
}

/** Remembers only the first problem. */
class ChainCheck {
  readonly #ends: Ends;
  readonly #knownSequence: string | undefined;
  readonly #knownHash: string | undefined;
  #foundHash: string | undefined;
  #expected: number;
  #previous: Buffer;
  entries = 0;
  problem: Problem | undefined;

  constructor(ends: Ends, knownHead: string | undefined) {
    this.#ends = ends;
    [this.#knownSequence, this.#knownHash] = knownHead?.split(":") ?? [];
    this.#expected = ends.first_sequence;
    this.#previous = ends.first_previous_hash;
  }

  note(...[kind, sequence, message]: Parameters<typeof problem>): void {
    this.problem ??= problem(kind, sequence, message);
  }

  async read(transaction: Transaction<Tables>): Promise<void> {
    for (;;) {
      const rows = await transaction
        .selectFrom("audit_logs")
        .selectAll()
        .where("sequence", ">=", this.#expected)
        .orderBy("sequence")
        .limit(batch)
        .execute();
      for (const row of rows) this.#add(row);
      if (rows.length < batch) break;
    }
    this.#compareEnd();
  }

  #add(row: Selectable<Tables["audit_logs"]>): void {
    const entry = `Entry ${String(row.sequence)}`;
    if (row.sequence !== this.#expected)
      this.note(
        "missing",
        this.#expected,
        `Entries ${String(this.#expected)} to ${String(row.sequence - 1)} are missing.`,
      );
    else if (!row.previous_hash.equals(this.#previous))
      this.note("changed", row.sequence, `${entry} does not follow the previous entry: one of the two was changed.`);
    if (!row.hash.equals(hashOf(row.previous_hash, row)))
      this.note("changed", row.sequence, `${entry} (${row.id}) was changed after it was written.`);
    if (String(row.sequence) === this.#knownSequence) this.#foundHash = row.hash.toString("hex");
    this.#previous = row.hash;
    this.#expected = row.sequence + 1;
    this.entries += 1;
  }

  #compareEnd(): void {
    const { last_hash, last_sequence } = this.#ends;
    if (this.#expected !== last_sequence + 1)
      this.note(
        this.#expected > last_sequence ? "head" : "missing",
        this.#expected,
        `The log ends before entry ${String(this.#expected)}; the last entry should be ${String(last_sequence)}.`,
      );
    else if (!this.#previous.equals(last_hash))
      this.note("head", last_sequence, `Entry ${String(last_sequence)} is not the entry that was written last.`);
  }

  compareKnownHead(): void {
    const sequence = Number(this.#knownSequence);
    if (this.#knownSequence === undefined || sequence < this.#ends.first_sequence) return;
    if (this.#knownHash !== this.#foundHash)
      this.note("known_head", sequence, `The log does not contain entry ${this.#knownSequence} with this hash.`);
  }
}

export class AuditChain {
  readonly #query: Database["query"];
  readonly #secrets: Secrets;
  readonly #witness: HeadWitness | undefined;
  readonly #log: Log | undefined;
  #isReported = false;

  /**
   * @param parts.secrets - seals both ends: write access to the database is not enough to forge a chain.
   * @param parts.witness - remembers the newest entry. Without it, only `known_head` detects a truncated log.
   */
  constructor(
    { query }: Database,
    parts: { readonly secrets: Secrets; readonly witness?: HeadWitness; readonly log?: Log },
  ) {
    this.#query = query;
    const { secrets, witness, log } = parts;
    this.#secrets = secrets;
    this.#witness = witness;
    this.#log = log;
  }

  /** A lock serializes the writers of all servers. */
  async append(notes: readonly AuditNote[]): Promise<void> {
    const head = await this.#query.transaction().execute(async (transaction) => {
      await writing.execute(transaction);
      const ends = (await readEnds(transaction)) ?? (await remakeEnds(transaction));
      const isHeld = await this.#holdsWitness(transaction, ends);
      const rows = chained(notes, { sequence: ends.last_sequence, hash: ends.last_hash });
      const last = rows.at(-1);
      if (last === undefined) return undefined;
      // One parameter for any number of rows, so that one prepared statement serves all.
      const json = JSON.stringify(
        rows.map((row) => ({
          ...row,
          previous_hash: `\\x${row.previous_hash.toString("hex")}`,
          hash: `\\x${row.hash.toString("hex")}`,
        })),
      );
      await sql`insert into audit_logs select * from json_populate_recordset(null::audit_logs, ${json}::json)`.execute(
        transaction,
      );
      const { first_previous_hash, first_sequence } = ends;
      await this.#setEnds(transaction, {
        first_sequence,
        first_previous_hash,
        last_sequence: last.sequence,
        last_hash: last.hash,
        broken_at: this.#brokenAt(ends),
      });
      return isHeld ? { sequence: last.sequence, hash: last.hash.toString("hex") } : undefined;
    });
    if (head !== undefined) await this.#witness?.keep(head);
  }

  /**
   * Logs an error when the log does not contain the head that this server remembers, or was sealed with an unknown secret. Seals
   * its ends with the present secret.
   */
  async checkHead(): Promise<void> {
    await this.#query.transaction().execute(async (transaction) => {
      await writing.execute(transaction);
      const ends = await readEnds(transaction);
      if (ends === undefined) return;
      const isSealed = this.#isSealed(ends);
      if (!isSealed)
        this.#log?.error(
          {},
          "the audit log was sealed with another secret_key, or changed: if stored profiles and credentials cannot be read either, restore the earlier secret.key, or set the earlier key as previous_secret_keys",
        );
      else if (ends.last_sequence > 0) await this.#setEnds(transaction, ends);
      if (!(await this.#holdsWitness(transaction, ends))) return;
      // This server just started, or has not written for a while.
      if (ends.last_sequence > 0 && isSealed) await this.#witness?.keep(headOf(ends));
    });
  }

  /** Accepts the current log as complete, after a restore. @returns the previous head, if any. */
  async acceptHead(): Promise<string | undefined> {
    const given = this.#witness?.head;
    const ends = await this.#query.transaction().execute(async (transaction) => {
      await writing.execute(transaction);
      return (await readEnds(transaction)) ?? (await remakeEnds(transaction));
    });
    await this.#witness?.keep(headOf(ends));
    this.#isReported = false;
    return given === undefined || given === "unreadable" ? given : headText(given);
  }

  /** @param knownHead - `SEQUENCE:HASH`, as returned by an earlier call. */
  async verify(knownHead: string | undefined): Promise<AuditLogVerification> {
    // Before the snapshot: concurrent entries move the head.
    const head = this.#witness?.head;
    return this.#query
      .transaction()
      .setIsolationLevel("repeatable read")
      .execute(async (transaction): Promise<AuditLogVerification> => {
        const ends = await readEnds(transaction);
        if (ends === undefined)
          return {
            valid: false,
            entries: 0,
            head: "",
            problem: problem("head", 0, "The row with the ends of the log was removed."),
          };
        const check = new ChainCheck(ends, knownHead);
        await check.read(transaction);
        const broken = this.#brokenAt(ends);
        if (broken !== null)
          check.note(
            "head",
            broken,
            `Before entry ${String(broken)}, the seal of the log's ends is invalid: they were changed in the database, or secret_key was different.`,
          );
        if (head === "unreadable" || (head !== undefined && !(await holdsHead(transaction, head, ends))))
          check.problem ??= witnessProblem(head);
        check.compareKnownHead();
        return {
          valid: check.problem === undefined,
          entries: check.entries,
          head: ends.last_sequence === 0 ? "" : headText(headOf(ends)),
          ...(check.problem && { problem: check.problem }),
        };
      });
  }

  /** Removes old entries, by the clock of the database: a wrong one of a server would erase the log of all. */
  async dropOlderThan(days: number): Promise<void> {
    await this.dropBefore(new Date((await databaseTimeMs(this.#query)) - days * dayMs));
  }

  /** Removes the entries before the first one at or after `moment`. */
  async dropBefore(moment: Date): Promise<void> {
    await this.#query.transaction().execute(async (transaction) => {
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
      const broken = this.#brokenAt(ends);
      await transaction.deleteFrom("audit_logs").where("sequence", "<", first.sequence).execute();
      await this.#setEnds(transaction, {
        first_sequence: first.sequence,
        first_previous_hash: first.previous_hash,
        last_sequence: ends.last_sequence,
        last_hash: ends.last_hash,
        broken_at: broken !== null && broken < first.sequence ? null : broken,
      });
    });
  }

  /** If the log lacks the remembered head, that head stays until an operator accepts another one. */
  async #holdsWitness(transaction: Transaction<Tables>, ends: Ends): Promise<boolean> {
    const head = this.#witness?.head;
    if (head === undefined || (head !== "unreadable" && (await holdsHead(transaction, head, ends)))) return true;
    if (!this.#isReported) this.#log?.error({ head, last_sequence: ends.last_sequence }, witnessProblem(head).message);
    this.#isReported = true;
    return false;
  }

  async #setEnds(transaction: Transaction<Tables>, ends: Ends): Promise<void> {
    await transaction
      .updateTable("audit_chain")
      .set({ ...ends, seal: this.#secrets.seal(textOf(ends), sealPurpose) })
      .execute();
  }

  #isSealed(ends: SealedEnds): boolean {
    return isSealedWith(this.#secrets, ends);
  }

  /** First entry after an invalid seal, kept until retention removes it: the next seal must not hide the problem. */
  #brokenAt(ends: SealedEnds): number | null {
    return ends.broken_at ?? (this.#isSealed(ends) ? null : ends.last_sequence + 1);
  }
}
