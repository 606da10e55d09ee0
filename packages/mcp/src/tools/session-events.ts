import { listTelemetryEvents } from "@shoal/contract";
import type { TelemetryEnvelope } from "@shoal/schemas";
import * as z from "zod/mini";
import { ownField } from "../base/fields.ts";
import type { ToolCall } from "../base/tool.ts";

export type SessionEvent = TelemetryEnvelope["event"];
type EventOf<Type extends SessionEvent["type"]> = Extract<SessionEvent, { type: Type }>;
export interface Numbered<Event = SessionEvent> {
  readonly seq: number;
  readonly event: Event;
}

/** Limits of one question. */
const maxReads = 20;
const readEvents = 100;
/** About 2,000 tokens. */
const maxAnswerCharacters = 8_000;
const maxLineCharacters = 400;

/** Millisecond and number of an event: several events have the same millisecond. */
const placePattern = /^(\d{13})-(\d{1,15})$/;

export const beforeField = ownField(
  "before",
  z.optional(z.string().check(z.regex(placePattern, "the value that the previous part names"))),
  "Value from the previous part",
);

const placeOf = ({ event, seq }: Numbered): string => `${String(Math.floor(event.ts / 1000))}-${String(seq)}`;

/** Yields events of a session, the newest first; `undefined` at the end if older ones were not read. */
export async function* newestEvents<Type extends SessionEvent["type"]>(
  types: readonly Type[],
  { browser, options, transport }: ToolCall,
  before?: string,
): AsyncGenerator<Numbered<EventOf<Type>>, "all" | "limit"> {
  const params = { id: await browser() };
  const [, ms, last = "0"] = placePattern.exec(before ?? "") ?? [];
  const until = ms === undefined ? undefined : new Date(Number(ms) + 1).toISOString();
  let offset: number | undefined;
  for (let reads = 0; reads < maxReads; reads += 1) {
    const query = {
      type: [...types],
      order: "desc",
      limit: readEvents,
      ...(offset !== undefined && { offset }),
      ...(offset === undefined && until !== undefined && { until }),
    };
    const { items, nextOffset } = await transport.call(listTelemetryEvents, { params, query }, options);
    for (const { event, seq } of items)
      if (until === undefined || seq < Number(last)) yield { seq, event: event as EventOf<Type> };
    if (nextOffset === undefined) return "all";
    offset = nextOffset;
  }
  return "limit";
}

/** Lists events as lines, the newest first, up to the size of an answer. @param lineOf - `undefined` omits the event. */
export async function listed<Type extends SessionEvent["type"]>(
  types: readonly Type[],
  call: ToolCall,
  {
    before,
    lineOf,
  }: {
    readonly before: string | undefined;
    readonly lineOf: (event: EventOf<Type>) => string | undefined;
  },
): Promise<readonly string[]> {
  const events = newestEvents(types, call, before);
  const lines: string[] = [];
  let left = maxAnswerCharacters;
  let place = before;
  for (;;) {
    const step = await events.next();
    if (step.done === true) {
      if (step.value === "limit" && place !== undefined) lines.push(`More: before ${place}`);
      return lines;
    }
    const { event, seq } = step.value;
    const shown = lineOf(event);
    const line = shown === undefined ? "" : oneLine(`#${String(seq)} ${timeOf(event)} ${shown}`, maxLineCharacters);
    if (line.length > left) {
      await events.return("limit");
      return [...lines, `More: before ${place ?? ""}`];
    }
    left -= line.length;
    if (line !== "") lines.push(line);
    place = placeOf(step.value);
  }
}

const timeOf = ({ ts }: SessionEvent): string => new Date(ts / 1000).toISOString().slice(11, 19);

/** Pages write these texts: one line each, so that none looks like another entry. */
export function oneLine(value: string, characters: number): string {
  const line = value.replaceAll(/\s+/gu, " ").trim();
  return line.length > characters ? `${line.slice(0, characters)}…` : line;
}
