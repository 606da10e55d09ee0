import type { IndexedExchange, RecordedPiece } from "./recorded-index.ts";

export interface RequestedRange {
  readonly start: number;
  /** Inclusive; `Infinity` for the rest. */
  readonly end: number;
}

/** Reads `bytes=START-` and `bytes=START-END`. */
export function rangeOf(header: string | undefined): RequestedRange | undefined {
  const [, start, end] = /^bytes=(\d{1,15})-(\d{1,15})?$/.exec(header ?? "") ?? [];
  return start === undefined ? undefined : { start: Number(start), end: end === undefined ? Infinity : Number(end) };
}

/** Whether a recorded answer contains the first byte of the range; servers may send less than asked. */
export function covers({ file, isLeftOut, recordedBytes }: IndexedExchange, { end, start }: RequestedRange): boolean {
  return (
    file !== undefined && !isLeftOut && file.offset <= start && start <= Math.min(end, file.offset + recordedBytes - 1)
  );
}

/** The answer to a range of a file, out of a recorded answer that {@link covers} it. */
export function sliceOf(exchange: IndexedExchange, { end, start }: RequestedRange): IndexedExchange {
  const { file = { offset: 0, length: 0 }, head, pieces, recordedBytes } = exchange;
  const last = Math.min(end, file.offset + recordedBytes - 1);
  const headers = (head?.headers ?? []).flatMap((name, index, all) =>
    index % 2 === 1 || /^content-(?:length|range)$/i.test(name) ? [] : [name, all[index + 1] ?? ""],
  );
  return {
    ...exchange,
    end: "complete",
    head: {
      afterMs: head?.afterMs ?? 0,
      status: 206,
      statusText: "Partial Content",
      headers: [
        ...headers,
        ...["Content-Range", `bytes ${String(start)}-${String(last)}/${String(file.length)}`],
        ...["Content-Length", String(last - start + 1)],
      ],
    },
    pieces: piecesWithin(pieces, { start: start - file.offset, end: last - file.offset }),
  };
}

function piecesWithin(pieces: readonly RecordedPiece[], { end, start }: RequestedRange): RecordedPiece[] {
  const found: RecordedPiece[] = [];
  let offset = 0;
  for (const piece of pieces) {
    if (offset > end) break;
    const from = Math.max(start - offset, 0);
    const to = Math.min(end - offset + 1, piece.bytes);
    offset += piece.bytes;
    if (from < to) found.push({ ...piece, at: piece.at + from, bytes: to - from });
  }
  return found;
}
