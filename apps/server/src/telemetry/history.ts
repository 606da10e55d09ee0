import type { Page } from "@shoal/contract";
import { badInput } from "@shoal/router";
import { ListTelemetryEvents, TelemetryEnvelope } from "@shoal/schemas";
import type * as z from "zod/mini";
import { type PlacedLine, readBackward, readForward } from "./event-files.ts";

type Query = z.output<typeof ListTelemetryEvents>;

const defaultWindow = "5m";
/** Events that one page looks at; where fewer fit, it is short, and the next one goes on behind them. */
const maxLooked = 20_000;

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

function parse({ line }: PlacedLine): TelemetryEnvelope | undefined {
  try {
    const result = TelemetryEnvelope.safeParse(JSON.parse(line));
    return result.success ? result.data : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A page of a session's events. What a session tells is not trusted: lines that are no events are left out.
 *
 * @throws {ServiceError} 400 for `since` with `order=desc`, and for moments that do not exist.
 */
export async function readHistory(directory: string, query: Query, nowMs = Date.now()): Promise<Page<TelemetryEnvelope>> {
  const until = query.until === undefined ? Number.POSITIVE_INFINITY : momentOf(query.until, "until", nowMs);
  const wanted = query.category === undefined || query.category.length === 0 ? undefined : new Set<string>(query.category);
  const fits = (envelope: TelemetryEnvelope | undefined): envelope is TelemetryEnvelope =>
    envelope !== undefined && (wanted?.has(envelope.event.category) ?? true);
  return query.order === "desc" ? newestFirst() : oldestFirst();

  async function oldestFirst(): Promise<Page<TelemetryEnvelope>> {
    const from = query.offset === undefined ? { ts: momentOf(query.since ?? defaultWindow, "since", nowMs) } : { place: query.offset };
    const items: TelemetryEnvelope[] = [];
    let nextOffset = query.offset;
    let looked = 0;
    for await (const placed of readForward(directory, from)) {
      const envelope = parse(placed);
      if (envelope !== undefined && envelope.event.ts >= until) break;
      const isFit = fits(envelope);
      if ((isFit && items.length === query.limit) || looked === maxLooked) return { items, hasMore: true, nextOffset: placed.start };
      looked++;
      if (isFit) items.push(envelope);
      nextOffset = placed.end;
    }
    return { items, hasMore: false, nextOffset };
  }

  async function newestFirst(): Promise<Page<TelemetryEnvelope>> {
    if (query.since !== undefined) {
      throw badInput(
        "query.since: goes without order=desc, which begins at until, or at the newest event. Leave since away, or list with order=asc.",
      );
    }
    const items: TelemetryEnvelope[] = [];
    let nextOffset = query.offset;
    let looked = 0;
    for await (const placed of readBackward(directory, query.offset ?? Number.MAX_SAFE_INTEGER)) {
      const envelope = parse(placed);
      const isFit = fits(envelope) && envelope.event.ts < until;
      if ((isFit && items.length === query.limit) || looked === maxLooked) return { items, hasMore: true, nextOffset: placed.end };
      looked++;
      if (isFit) items.push(envelope);
      nextOffset = placed.start;
    }
    return { items, hasMore: false, nextOffset };
  }
}
