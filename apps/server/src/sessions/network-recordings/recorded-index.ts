import type { AnswerHead, ExchangeEnd, ExchangeRequest } from "@shoal/placement";
import { readFrames } from "./frames.ts";
import { timedText } from "./times.ts";

/** Bytes of an answer in the recording. */
export interface RecordedPiece {
  readonly at: number;
  readonly bytes: number;
  readonly ms: number;
  readonly messages: number;
}

export interface IndexedExchange {
  readonly request: ExchangeRequest;
  head: (AnswerHead & { readonly afterMs: number }) | undefined;
  end: ExchangeEnd;
  /** Digest of the request's body. */
  body: string;
  readonly pieces: RecordedPiece[];
  /** Of all pieces. */
  recordedBytes: number;
  /** Where the recorded bytes begin in the file, and its length. */
  file: { readonly offset: number; readonly length: number } | undefined;
  isLeftOut: boolean;
}

/** Exchanges whose addresses differ only in what may be times. */
export interface TimedExchanges {
  readonly exchanges: IndexedExchange[];
  /** Of their addresses, in turn. */
  readonly timesMs: number[];
}

/** Exchanges in the order of their requests. */
export interface RecordedIndex {
  /** By {@link indexKey}. */
  readonly byAddress: ReadonlyMap<string, readonly IndexedExchange[]>;
  /** By the shape of {@link indexKey}: a lookup reads no recorded address again. */
  readonly byShape: ReadonlyMap<string, TimedExchanges>;
}

export function indexKey({ method, url }: Pick<ExchangeRequest, "method" | "url">): string {
  return `${method} ${url}`;
}

/** Reads a recording once, without keeping its bytes. */
export async function indexRecording(source: AsyncIterable<Uint8Array>): Promise<RecordedIndex> {
  const all: IndexedExchange[] = [];
  const byAddress = new Map<string, IndexedExchange[]>();
  const byShape = new Map<string, TimedExchanges>();
  for await (const { at, frame } of readFrames(source)) {
    if ("request" in frame) {
      const { request } = frame;
      const exchange: IndexedExchange = {
        ...{ request, head: undefined, end: "open", body: "", isLeftOut: false },
        ...{ pieces: [], recordedBytes: 0, file: undefined },
      };
      all[frame.x] = exchange;
      const key = indexKey(request);
      const same = byAddress.get(key);
      if (same === undefined) byAddress.set(key, [exchange]);
      else same.push(exchange);
      appendTimed(byShape, key, exchange);
      continue;
    }
    const exchange = all[frame.x];
    if (exchange === undefined) continue;
    if ("head" in frame) {
      exchange.head = { ...frame.head, afterMs: frame.ms };
      exchange.file = fileOf(frame.head);
    } else if ("bytes" in frame) {
      exchange.pieces.push({ at, bytes: frame.bytes, ms: frame.ms, messages: frame.messages });
      exchange.recordedBytes += frame.bytes;
    } else if ("end" in frame) Object.assign(exchange, { end: frame.end, body: frame.body });
    else exchange.isLeftOut = true;
  }
  return { byAddress, byShape };
}

function appendTimed(map: Map<string, TimedExchanges>, key: string, exchange: IndexedExchange): void {
  const timed = timedText(key);
  if (timed === undefined) return;
  const present = map.get(timed.shape) ?? { exchanges: [], timesMs: [] };
  map.set(timed.shape, present);
  present.exchanges.push(exchange);
  present.timesMs.push(...timed.timesMs);
}

function fileOf({ headers, status }: AnswerHead): IndexedExchange["file"] {
  const find = (wanted: string): string =>
    headers.find((_value, index, all) => index % 2 === 1 && all[index - 1]?.toLowerCase() === wanted) ?? "";
  if (find("content-encoding") !== "") return undefined;
  if (status === 206) {
    const [, offset, length] = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15})$/.exec(find("content-range")) ?? [];
    return offset === undefined ? undefined : { offset: Number(offset), length: Number(length) };
  }
  const length = find("content-length");
  return status === 200 && /^\d{1,15}$/.test(length) ? { offset: 0, length: Number(length) } : undefined;
}
