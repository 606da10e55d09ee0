import type { AnswerHead, ExchangeEnd, ExchangeRequest } from "@shoal/placement";
import { readFrames } from "./frames.ts";
import { withoutTimes } from "./times.ts";

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

type Exchanges = ReadonlyMap<string, readonly IndexedExchange[]>;

/** Exchanges in the order of their requests. */
export interface RecordedIndex {
  /** By {@link indexKey}. */
  readonly byAddress: Exchanges;
  /** By {@link shapeKey}, if the address contains what may be a time. */
  readonly byShape: Exchanges;
}

export function indexKey({ method, url }: Pick<ExchangeRequest, "method" | "url">): string {
  return `${method} ${url}`;
}

/** Method and address without times. */
export function shapeKey(request: Pick<ExchangeRequest, "method" | "url">): string {
  return withoutTimes(indexKey(request));
}

/** Reads a recording once, without keeping its bytes. */
export async function indexRecording(source: AsyncIterable<Uint8Array>): Promise<RecordedIndex> {
  const all: IndexedExchange[] = [];
  const byAddress = new Map<string, IndexedExchange[]>();
  const byShape = new Map<string, IndexedExchange[]>();
  for await (const { at, frame } of readFrames(source)) {
    if ("request" in frame) {
      const { request } = frame;
      const exchange: IndexedExchange = {
        ...{ request, head: undefined, end: "open", body: "", isLeftOut: false },
        ...{ pieces: [], recordedBytes: 0, file: undefined },
      };
      all[frame.x] = exchange;
      const [key, shape] = [indexKey(request), shapeKey(request)];
      append(byAddress, key, exchange);
      if (shape !== key) append(byShape, shape, exchange);
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

function append(map: Map<string, IndexedExchange[]>, key: string, exchange: IndexedExchange): void {
  const present = map.get(key);
  if (present === undefined) map.set(key, [exchange]);
  else present.push(exchange);
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
