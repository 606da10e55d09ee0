import { badInput } from "@shoal/router";
import { type ListTelemetryEvents, TelemetryEnvelope } from "@shoal/schemas";
import type * as z from "zod/mini";
import { type PlacedLine, readBackward, readForward } from "./event-files.ts";
import { isEventLine } from "./line-bounds.ts";

type Query = z.output<typeof ListTelemetryEvents>;

const defaultWindow = "5m";
/** Lines, and bytes of them, that one page reads; where fewer events fit, the page is short, and the next one continues after them. */
const maxReadLines = 20_000;
const maxReadBytes = 32 * 2 ** 20;
/** Bytes of a page, which has at least one event. */
const maxPageBytes = 16 * 2 ** 20;

const unitMs: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Microseconds since 1970 of a moment, or of how long ago. */
function momentOf(text: string, field: string, nowMs: number): number {
  if (/^(?:\d+(?:\.\d+)?[a-zµ]+)+$/.test(text)) {
    let agoMs = 0;
    for (const [, count = "0", unit = "s"] of text.matchAll(/(\d+(?:\.\d+)?)([a-zµ]+)/g)) agoMs += Number(count) * (unitMs[unit] ?? 0);
    return Math.round((nowMs - agoMs) * 1000);
  }
  // Without a zone, it is UTC.
  const ms = Date.parse(/(?:Z|[+-]\d\d:\d\d)$/.test(text) || !text.includes("T") ? text : `${text}Z`);
  if (Number.isNaN(ms)) {
    throw badInput(`query.${field}: ${text} is not a moment of the calendar`);
  }
  return ms * 1000;
}

/** Which events of a session a page has. Plain data: it is sent to a parse worker. */
export interface HistoryQuestion {
  readonly directory: string;
  readonly order: "asc" | "desc";
  readonly limit: number;
  /** Where the page begins, as `nextOffset` of the page before gave it. */
  readonly offset: number | undefined;
  /** Microseconds since 1970; for a page in ascending order without an offset. */
  readonly since: number;
  /** Microseconds since 1970; infinite = no end. */
  readonly until: number;
  /** Every category when absent. */
  readonly categories: readonly string[] | undefined;
}

/** A page of events. */
export interface HistoryPage {
  /** JSON of an array of `TelemetryEnvelope`. */
  readonly items: Uint8Array<ArrayBuffer>;
  readonly hasMore: boolean;
  readonly nextOffset: number | undefined;
}

/** Reads a query. @throws {ServiceError} 400 for `since` with `order=desc`, and for moments that do not exist. */
export function historyQuestion(directory: string, query: Query, nowMs = Date.now()): HistoryQuestion {
  const { category, limit, offset } = query;
  const order = query.order === "desc" ? "desc" : "asc";
  if (order === "desc" && query.since !== undefined) {
    throw badInput("query.since: does not go with order=desc, which begins at until, or at the newest event. Omit since, or list with order=asc.");
  }
  return {
    directory,
    order,
    limit,
    offset,
    since: momentOf(query.since ?? defaultWindow, "since", nowMs),
    until: query.until === undefined ? Number.POSITIVE_INFINITY : momentOf(query.until, "until", nowMs),
    categories: category === undefined || category.length === 0 ? undefined : category,
  };
}

/** Reads a page of a session's events. Runs in a parse worker: an instance has written the lines, and those that are not events are left out. */
export async function readHistory(question: HistoryQuestion): Promise<HistoryPage> {
  return new HistoryReader(question).read();
}

class HistoryReader {
  readonly #question: HistoryQuestion;
  readonly #items: Buffer[] = [];
  #itemBytes = 0;
  #readLines = 0;
  #readBytes = 0;

  constructor(question: HistoryQuestion) {
    this.#question = question;
  }

  async read(): Promise<HistoryPage> {
    const { order, offset, until } = this.#question;
    const isForward = order === "asc";
    let nextOffset = offset;
    for await (const placed of this.#lines()) {
      const envelope = parse(placed);
      if (isForward && envelope !== undefined && envelope.event.ts >= until) break;
      if (this.#isFull(envelope)) return this.#page(true, isForward ? placed.start : placed.end);
      this.#take(placed, envelope);
      nextOffset = isForward ? placed.end : placed.start;
    }
    return this.#page(false, nextOffset);
  }

  #lines(): AsyncGenerator<PlacedLine, undefined> {
    const { directory, order, offset, since } = this.#question;
    if (order === "desc") return readBackward(directory, offset ?? Number.MAX_SAFE_INTEGER);
    return readForward(directory, offset === undefined ? { ts: since } : { place: offset });
  }

  #fits(envelope: TelemetryEnvelope | undefined): envelope is TelemetryEnvelope {
    const { categories, order, until } = this.#question;
    if (envelope === undefined || (order === "desc" && envelope.event.ts >= until)) return false;
    return categories === undefined || categories.includes(envelope.event.category);
  }

  /** Whether the page ends before this line. */
  #isFull(envelope: TelemetryEnvelope | undefined): boolean {
    if (this.#readLines === maxReadLines || this.#readBytes >= maxReadBytes) return true;
    return this.#fits(envelope) && (this.#items.length === this.#question.limit || this.#itemBytes >= maxPageBytes);
  }

  #take({ start, end }: PlacedLine, envelope: TelemetryEnvelope | undefined): void {
    this.#readLines += 1;
    this.#readBytes += end - start;
    if (!this.#fits(envelope)) return;
    const item = Buffer.from(JSON.stringify(envelope));
    this.#items.push(item);
    this.#itemBytes += item.length;
  }

  #page(hasMore: boolean, nextOffset: number | undefined): HistoryPage {
    const pieces = this.#items.flatMap((item, index) => (index === 0 ? [item] : [Buffer.from(","), item]));
    return { items: new Uint8Array(Buffer.concat([Buffer.from("["), ...pieces, Buffer.from("]")])), hasMore, nextOffset };
  }
}

function parse({ line }: PlacedLine): TelemetryEnvelope | undefined {
  if (!isEventLine(line)) return undefined;
  try {
    const result = TelemetryEnvelope.safeParse(JSON.parse(line));
    return result.success ? result.data : undefined;
  } catch {
    return undefined;
  }
}
