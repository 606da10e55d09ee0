import type { ExchangePlayer, ExchangeRequest, PlayedChunk, PlayedExchange } from "@shoal/placement";
import type { BrowserReplay } from "@shoal/schemas";
import { withLivingCookies } from "./living-cookies.ts";
import { type IndexedExchange, indexKey, type RecordedPiece } from "./recorded-index.ts";
import type { RecordingRow } from "./recording-row.ts";
import { similarPlaces, timedText, type TimeSpan } from "./times.ts";
import { covers, rangeOf, sliceOf } from "./recorded-range.ts";
import { usualRecordingLimits } from "./recorder.ts";
import type { SharedRecording } from "./shared-recordings.ts";

/** Pieces of a recording that are read together. */
const readAhead = 2 ** 20;
const maxShownUrl = 300;
const { answerBytes, bytes: maxBytes, requests: maxRequests } = usualRecordingLimits;
const limits = `${String(answerBytes / 2 ** 20)} MiB an answer, ${String(maxBytes / 2 ** 20)} MiB and ${String(maxRequests)} requests a recording`;

export interface PlayerParts {
  readonly replay: BrowserReplay;
  /** Sessions that replay the same recording share it. */
  readonly recorded: SharedRecording;
  readonly row: Pick<RecordingRow, "created_at" | "finished_at" | "seed" | "truncated">;
  /** Bytes of the recording; inclusive offsets. */
  readonly read: (start: number, end: number) => AsyncIterable<Uint8Array>;
}

/**
 * Answers in the recorded order: each answer once, and the last one to GET, HEAD and OPTIONS again. With the recorded clock,
 * answers to similar addresses follow those to the same address.
 */
export class Player implements ExchangePlayer {
  readonly passes: boolean;
  /** Of `Math.random` in the recording. */
  readonly seed: number | undefined;
  /** From the time of this server to the time of pages. */
  readonly clockOffsetMs: number | undefined;
  readonly #parts: PlayerParts;
  readonly #used = new Set<IndexedExchange>();
  /** Used for another address. */
  readonly #lent = new Set<IndexedExchange>();
  /** Of the latest request alone: each asks several times, and many may wait for their bodies. */
  #found: { readonly request: ExchangeRequest; readonly similar: readonly IndexedExchange[] } | undefined;

  constructor(parts: PlayerParts) {
    const { replay, row } = parts;
    this.passes = replay.on_missing === "pass";
    this.seed = row.seed ?? undefined;
    this.clockOffsetMs = replay.clock === "recorded" ? Date.parse(row.created_at) - Date.now() : undefined;
    this.#parts = parts;
  }

  knows(request: ExchangeRequest): boolean {
    const answers = answersTo(request);
    return (
      this.#exact(request).some(answers) || this.#similar(request).some(answers) || this.#ranged(request) !== undefined
    );
  }

  next(request: ExchangeRequest, body: string): PlayedExchange | undefined {
    const chosen = this.#choose(request, body);
    if (chosen !== undefined) {
      this.#used.add(chosen);
      return this.#played(chosen);
    }
    const range = rangeOf(request.range);
    const ranged = this.#ranged(request);
    return range && ranged && this.#played(sliceOf(ranged, range));
  }

  explain(request: ExchangeRequest): string {
    const {
      recorded,
      replay: { recording: id },
      row,
    } = this.#parts;
    if (recorded.isGone) return `The recording ${id} was deleted.`;
    const shown = request.url.length > maxShownUrl ? `${request.url.slice(0, maxShownUrl)}…` : request.url;
    const name = `${request.method} ${shown}`;
    const all = this.#nearest(request);
    if (all.some(({ isLeftOut }) => isLeftOut))
      return `The answer to ${name} is not in the recording ${id}, because it exceeded a limit (${limits}). Record fewer pages.`;
    if (all.length === 0)
      return row.truncated
        ? `${name} is not in the recording ${id}, which reached a limit (${limits}). Record fewer pages.`
        : `${name} is not in the recording ${id}.`;
    const times = all.length === 1 ? "once" : `${String(all.length)} times`;
    return `${name} is in the recording ${id} ${times}, but not with this body or range, or not as often.`;
  }

  #choose(request: ExchangeRequest, body: string): IndexedExchange | undefined {
    const answers = answersTo(request, body);
    const isUnused = (exchange: IndexedExchange): boolean => !this.#used.has(exchange);
    const exact = this.#exact(request).filter(answers);
    const next = exact.find(isUnused);
    if (next !== undefined) return next;
    const last = isRepeatable(request) ? exact.at(-1) : undefined;
    // The address itself was asked again, by a reload for instance.
    if (last !== undefined && !exact.some((exchange) => this.#lent.has(exchange))) return last;
    const similar = this.#similar(request).filter(answers);
    const unused = similar.find(isUnused);
    if (unused !== undefined) this.#lent.add(unused);
    return unused ?? last ?? (isRepeatable(request) ? similar.at(-1) : undefined);
  }

  #exact(request: ExchangeRequest): readonly IndexedExchange[] {
    const { index, isGone } = this.#parts.recorded;
    return isGone ? [] : (index.byAddress.get(indexKey(request)) ?? []);
  }

  /** Also those with the same address; with the recorded clock alone. */
  #similar(request: ExchangeRequest): readonly IndexedExchange[] {
    const { index, isGone } = this.#parts.recorded;
    if (isGone || this.clockOffsetMs === undefined) return [];
    if (this.#found?.request === request) return this.#found.similar;
    const asked = timedText(indexKey(request));
    const timed = asked && index.byShape.get(asked.shape);
    const places = timed ? similarPlaces(timed.timesMs, asked.timesMs, this.#times(this.clockOffsetMs)) : [];
    const similar = places.flatMap((place) => timed?.exchanges[place] ?? []);
    this.#found = { request, similar };
    return similar;
  }

  #nearest(request: ExchangeRequest): readonly IndexedExchange[] {
    const exact = this.#exact(request);
    return exact.length > 0 ? exact : this.#similar(request);
  }

  /** Of the recording and of the replay. */
  #times(clockOffsetMs: number): TimeSpan {
    const { created_at, finished_at } = this.#parts.row;
    return {
      fromMs: Date.parse(created_at),
      toMs: Math.max(Date.parse(finished_at ?? created_at), Date.now() + clockOffsetMs),
    };
  }

  /** Bytes that another request for the same file got: players ask for ranges that depend on time. */
  #ranged(request: ExchangeRequest): IndexedExchange | undefined {
    const range = rangeOf(request.range);
    if (range === undefined || !isRepeatable(request)) return undefined;
    const nearest = this.#nearest(request);
    return nearest.find((exchange) => covers(exchange, range));
  }

  #played({ end, head, pieces }: IndexedExchange): PlayedExchange {
    const { created_at } = this.#parts.row;
    return {
      head: head && { ...head, headers: withLivingCookies(head.headers, Date.parse(created_at)) },
      end,
      chunks: () => this.#chunks(pieces),
    };
  }

  async *#chunks(pieces: readonly RecordedPiece[]): AsyncGenerator<PlayedChunk, void, undefined> {
    for (let next = 0; next < pieces.length;) {
      const group = groupFrom(pieces, next);
      const bytes = await this.#bytes(group);
      const [first] = group;
      for (const { at, bytes: length, messages, ms } of group) {
        const start = at - (first?.at ?? 0);
        yield { bytes: bytes.subarray(start, start + length), afterMs: ms, messages };
      }
      next += group.length;
    }
  }

  async #bytes(group: readonly RecordedPiece[]): Promise<Buffer> {
    const [first] = group;
    const last = group.at(-1);
    if (first === undefined || last === undefined) return Buffer.alloc(0);
    const chunks: Buffer[] = [];
    // Each chunk is valid until the next one.
    for await (const chunk of this.#parts.read(first.at, last.at + last.bytes - 1)) chunks.push(Buffer.from(chunk));
    return Buffer.concat(chunks);
  }
}

function groupFrom(pieces: readonly RecordedPiece[], from: number): readonly RecordedPiece[] {
  const start = pieces[from]?.at ?? 0;
  let to = from + 1;
  while (to < pieces.length && endOf(pieces[to]) - start <= readAhead) to += 1;
  return pieces.slice(from, to);
}

function endOf(piece: RecordedPiece | undefined): number {
  return piece === undefined ? 0 : piece.at + piece.bytes;
}

/** @param body - digest; any without it. */
function answersTo({ isConditional, range }: ExchangeRequest, body?: string): (exchange: IndexedExchange) => boolean {
  return (exchange) =>
    !exchange.isLeftOut &&
    exchange.request.range === range &&
    (exchange.head?.status !== 304 || isConditional) &&
    (body === undefined || exchange.body === body);
}

function isRepeatable({ method }: ExchangeRequest): boolean {
  // Browsers repeat an OPTIONS preflight when they have forgotten it, after seconds.
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}
