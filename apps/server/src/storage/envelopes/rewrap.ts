import type { SecondDatabase } from "@shoal/database";
import { messageOf } from "@shoal/primitives";
import { type RawBuilder, sql } from "kysely";
import type { Envelopes } from "./envelopes.ts";
import { type SealedColumn, sealedColumns } from "./sealed-columns.ts";

const rowsAtOnce = 200;

export interface RewrapReport {
  /** Values under the present master key now. */
  readonly rewrapped: number;
  /** Values that no configured key opens: the first ones, as `table column key: reason`. */
  readonly failures: readonly string[];
  readonly failed: number;
}

interface RewrapParts {
  readonly query: SecondDatabase["query"];
  readonly envelopes: Envelopes;
  /** Called after each batch. */
  readonly onProgress: (done: number, total: number) => void;
}

interface SealedRow {
  readonly key: readonly string[];
  readonly sealed: Buffer;
}

const maxFailuresShown = 20;

/**
 * Wraps the data keys of all stored secrets with the present master key. Values under that key are skipped, so a run
 * after an interruption continues. Concurrent changes by the service are kept.
 */
export async function rewrapAll(parts: RewrapParts): Promise<RewrapReport> {
  const report = { rewrapped: 0, failed: 0, failures: [] as string[] };
  const total = await countOutdated(parts);
  for (const column of sealedColumns) {
    let after: readonly string[] | undefined;
    for (;;) {
      const rows = await outdatedRows(parts, column, after);
      if (rows.length === 0) break;
      const outcomes = await Promise.all(rows.map((row) => rewrapRow(parts, column, row)));
      for (const failure of outcomes) {
        if (failure === undefined) report.rewrapped += 1;
        else if ((report.failed += 1) <= maxFailuresShown) report.failures.push(failure);
      }
      after = rows.at(-1)?.key;
      parts.onProgress(report.rewrapped + report.failed, total);
    }
  }
  return report;
}

/** Compares the first bytes, which contain the id of the master key. */
function isOutdated(column: SealedColumn, { envelopes }: RewrapParts): RawBuilder<boolean> {
  const prefix = envelopes.presentPrefix();
  const sealed = sql.ref(column.column);
  return sql<boolean>`${sealed} is not null and substring(${sealed} from 1 for ${prefix.length}) <> ${prefix}`;
}

async function countOutdated(parts: RewrapParts): Promise<number> {
  let total = 0;
  for (const column of sealedColumns) {
    const { rows } = await sql<{ count: string }>`
      select count(*)::text as count from ${sql.table(column.table)} where ${isOutdated(column, parts)}`.execute(
      parts.query,
    );
    total += Number(rows[0]?.count ?? 0);
  }
  return total;
}

const keyOf = ({ key }: SealedColumn) => sql.join(key.map((name) => sql.ref(name)));

async function outdatedRows(
  parts: RewrapParts,
  column: SealedColumn,
  after: readonly string[] | undefined,
): Promise<SealedRow[]> {
  const { rows } = await sql<SealedRow>`
    select array[${keyOf(column)}] as key, ${sql.ref(column.column)} as sealed from ${sql.table(column.table)}
    where ${isOutdated(column, parts)} ${after === undefined ? sql`` : sql`and (${keyOf(column)}) > (${sql.join(after)})`}
    order by ${keyOf(column)} limit ${rowsAtOnce}`.execute(parts.query);
  return rows;
}

/** Returns the reason of a failure. */
async function rewrapRow(
  { envelopes, query }: RewrapParts,
  column: SealedColumn,
  { key, sealed }: SealedRow,
): Promise<string | undefined> {
  try {
    const rewrapped = await envelopes.rewrap(sealed);
    // A value that changed meanwhile is already sealed with a current key.
    await sql`update ${sql.table(column.table)} set ${sql.ref(column.column)} = ${rewrapped}
      where (${keyOf(column)}) = (${sql.join(key)}) and ${sql.ref(column.column)} = ${sealed}`.execute(query);
    return undefined;
  } catch (error) {
    return `${column.table}.${column.column} ${key.join(" ")}: ${messageOf(error)}`;
  }
}
