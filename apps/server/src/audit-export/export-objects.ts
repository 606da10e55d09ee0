import type { Database } from "@shoal/database";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type AuditLogRow, toLine } from "../audit-logs/audit-logs.ts";
import type { PendingObject } from "./destination-store.ts";

/** An object's entries, and what is written. */
export interface ExportObject extends PendingObject {
  readonly bytes: Buffer;
  /** The log no longer holds the first of its entries. */
  readonly isCut: boolean;
  /** Whether the log held more behind it. */
  readonly hasMore: boolean;
}

/** The audit log in pieces that are bounded in entries and bytes. */
export interface ExportObjects {
  /** What comes after an entry, oldest first; `undefined` when nothing does. */
  after(sequence: number): Promise<ExportObject | undefined>;
  /** The same again, to the byte; `undefined` when the log holds none of its entries any more. */
  again(pending: PendingObject): Promise<ExportObject | undefined>;
}

/** Entries of an object. */
export const maxEntries = 5000;
/** Of the lines, before they are compressed. */
const maxBytes = 8 * 2 ** 20;
/** Rows that are read at a time. */
const batch = 1000;

const compress = promisify(gzip);

/** Sorted by name as by sequence. The day is the first entry's. */
function nameOf(first: AuditLogRow, last: number): string {
  const digits = (sequence: number) => String(sequence).padStart(15, "0");
  return `${first.at.slice(0, 10).replaceAll("-", "/")}/${digits(first.sequence)}-${digits(last)}.jsonl.gz`;
}

export function createExportObjects({ query }: Database): ExportObjects {
  /** @param until - the last one at most; `undefined` = as many as an object takes. */
  async function read(
    after: number,
    until: number | undefined,
  ): Promise<{ readonly rows: readonly AuditLogRow[]; readonly lines: readonly string[]; readonly hasMore: boolean }> {
    const rows: AuditLogRow[] = [];
    const lines: string[] = [];
    let length = 0;
    for (;;) {
      let select = query
        .selectFrom("audit_logs")
        .selectAll()
        .where("sequence", ">", rows.at(-1)?.sequence ?? after);
      if (until !== undefined) select = select.where("sequence", "<=", until);
      const found = await select.orderBy("sequence").limit(batch).execute();
      for (const row of found) {
        const line = toLine(row);
        length += Buffer.byteLength(line);
        if (until === undefined && rows.length > 0 && (rows.length >= maxEntries || length > maxBytes)) return { rows, lines, hasMore: true };
        rows.push(row);
        lines.push(line);
      }
      if (found.length < batch) return { rows, lines, hasMore: until !== undefined };
    }
  }

  const bytesOf = (lines: readonly string[]) => compress(Buffer.from(lines.join("")));

  return {
    async after(sequence) {
      const { hasMore, lines, rows } = await read(sequence, undefined);
      const [first] = rows;
      const last = rows.at(-1);
      if (first === undefined || last === undefined) return undefined;
      return { first: first.sequence, last: last.sequence, name: nameOf(first, last.sequence), bytes: await bytesOf(lines), isCut: false, hasMore };
    },

    async again({ first, last, name }) {
      const { hasMore, lines, rows } = await read(first - 1, last);
      if (rows[0] === undefined) return undefined;
      return { first, last, name, bytes: await bytesOf(lines), isCut: rows[0].sequence !== first, hasMore };
    },
  };
}
