import { badInput } from "@shoal/router";
import { type ListTelemetryEvents, TelemetryEnvelope } from "@shoal/schemas";
import type * as z from "zod/mini";
import {
  type PlacedLine,
  readBackward,
  readForward,
  type Segment,
  segmentsBackward,
  segmentsForward,
} from "./event-files.ts";
import { momentOf } from "../moment.ts";
import { isEventLine } from "./line-bounds.ts";

type Query = z.output<typeof ListTelemetryEvents>;

const defaultWindow = "5m";
/** Limit per page; a page may be shorter than requested. */
const maxReadLines = 20_000;
const maxReadBytes = 32 * 2 ** 20;
/** A page has at least one event. */
const maxPageBytes = 16 * 2 ** 20;

/** Plain data, sent to a parse worker. */
export interface HistoryQuestion {
  readonly directory: string;
  readonly order: "asc" | "desc";
  readonly limit: number;
  /** `nextOffset` of the previous page. */
  readonly offset: number | undefined;
  /** Microseconds since 1970; for ascending order without an offset. */
  readonly since: number;
  /** Infinite = no limit. */
  readonly until: number;
  /** Of ascending order: an offset, from which nothing is read. */
  readonly end?: number | undefined;
  readonly categories: readonly string[] | undefined;
  readonly types: readonly string[] | undefined;
  /** Lines instead of a JSON array. */
  readonly asLines?: true;
}

export interface HistoryPage {
  readonly items: Uint8Array<ArrayBuffer>;
  readonly hasMore: boolean;
  readonly nextOffset: number | undefined;
}

/** The segments that may be read for a question, in the order of reading. */
export function segmentsFor<Found extends Segment>(
  segments: readonly Found[],
  { offset, order, since }: Pick<HistoryQuestion, "offset" | "order" | "since">,
): Found[] {
  if (order === "desc") return segmentsBackward(segments, offset ?? Number.MAX_SAFE_INTEGER);
  return segmentsForward(segments, offset === undefined ? { ts: since } : { place: offset });
}

/** @throws {ServiceError} 400 for `since` with `order=desc`, and for invalid dates. */
export function historyQuestion(directory: string, query: Query, nowMs = Date.now()): HistoryQuestion {
  const { category, limit, offset, type } = query;
  const order = query.order === "desc" ? "desc" : "asc";
  if (order === "desc" && query.since !== undefined) {
    throw badInput("query.since", "cannot be combined with order=desc, which begins at until or the newest event", {
      hint: "Omit since, or list with order=asc.",
    });
  }
  return {
    directory,
    order,
    limit,
    offset,
    since: momentOf(query.since ?? defaultWindow, "since", nowMs),
    until: query.until === undefined ? Number.POSITIVE_INFINITY : momentOf(query.until, "until", nowMs),
    categories: category === undefined || category.length === 0 ? undefined : category,
    types: type === undefined || type.length === 0 ? undefined : type,
  };
}

/** Runs in a parse worker: lines are untrusted, and invalid ones are skipped. */
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
    const { end = Number.POSITIVE_INFINITY, order, offset, until } = this.#question;
    const isForward = order === "asc";
    let nextOffset = offset;
    for await (const placed of this.#lines()) {
      if (isForward && placed.start >= end) break;
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
    const { categories, order, types, until } = this.#question;
    if (envelope === undefined || (order === "desc" && envelope.event.ts >= until)) return false;
    if (types?.includes(envelope.event.type) === false) return false;
    return categories === undefined || categories.includes(envelope.event.category);
  }

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
    const lines = () => this.#items.flatMap((item) => [item, Buffer.from("\n")]);
    const content = this.#question.asLines ? lines() : [Buffer.from("["), ...pieces, Buffer.from("]")];
    return {
      items: new Uint8Array(Buffer.concat(content)),
      hasMore,
      nextOffset,
    };
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
