import type { Database } from "@shoal/database";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type AuditLogRow, toLine } from "../logs/audit-logs.ts";
import type { PendingObject } from "./destination-store.ts";

export interface ExportObject extends PendingObject {
  readonly bytes: Buffer;
  readonly isCut: boolean;
  readonly hasMore: boolean;
}

export interface ExportObjects {
  /** `undefined` at the end of the log. */
  after(sequence: number): Promise<ExportObject | undefined>;
  /** Builds an object again, with identical bytes; `undefined` when retention removed all its entries. */
  again(pending: PendingObject): Promise<ExportObject | undefined>;
}

export const maxEntries = 5000;
/** Uncompressed. */
const maxBytes = 8 * 2 ** 20;
const batch = 1000;

const compress = promisify(gzip);

/** Names sort by sequence. The day is that of the first entry. */
function nameOf(first: AuditLogRow, last: number): string {
  const digits = (sequence: number) => String(sequence).padStart(15, "0");
  return `${first.at.slice(0, 10).replaceAll("-", "/")}/${digits(first.sequence)}-${digits(last)}.jsonl.gz`;
}

export function createExportObjects({ query }: Database): ExportObjects {
  /** @param until - last entry; `undefined` = until the object is full. */
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
        if (until === undefined && rows.length > 0 && (rows.length >= maxEntries || length > maxBytes))
          return { rows, lines, hasMore: true };
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
      return {
        first: first.sequence,
        last: last.sequence,
        name: nameOf(first, last.sequence),
        bytes: await bytesOf(lines),
        isCut: false,
        hasMore,
      };
    },

    async again({ first, last, name }) {
      const { hasMore, lines, rows } = await read(first - 1, last);
      if (rows[0] === undefined) return undefined;
      return { first, last, name, bytes: await bytesOf(lines), isCut: rows[0].sequence !== first, hasMore };
    },
  };
}
