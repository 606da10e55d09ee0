import type { TelemetryEnvelope } from "@shoal/schemas";
import { archiveName } from "../../storage/archives/archive-name.ts";
import type { HistoryReader, TelemetryStore, WantedEvents } from "../telemetry/telemetry-store.ts";

/** Events in a chunk; one chunk is parsed without a pause. */
const chunkEvents = 200;

export interface EventsOf {
  readonly store: Pick<TelemetryStore, "lines">;
  readonly sessionId: string;
  /** The offset after the last event; `undefined` = all events. Not a time: the clock of a box may be wrong, or be set. */
  readonly end: number | undefined;
  readonly reader: HistoryReader;
}

export interface Choice extends Partial<Pick<WantedEvents, "categories" | "types">> {
  readonly limit?: number;
}

/** Chunks of JSON lines, oldest first. */
export function linesOf({ end, reader, sessionId, store }: EventsOf, choice: Choice): AsyncGenerator<Uint8Array> {
  const { categories, limit = chunkEvents, types } = choice;
  return store.lines(sessionId, { categories, types, limit, end }, reader);
}

/** Events, oldest first. */
export async function* eventsOf(from: EventsOf, choice: Choice): AsyncGenerator<TelemetryEnvelope[]> {
  for await (const chunk of linesOf(from, choice)) {
    const lines = Buffer.from(chunk).toString("utf8").split("\n").slice(0, -1);
    // The parse worker has checked and written them.
    yield lines.map((line) => JSON.parse(line) as TelemetryEnvelope);
  }
}

interface Screenshot {
  readonly ts: number;
  /** Unique in the session. */
  readonly file: string;
  readonly png: Buffer;
}

/** Screenshots have about a megabyte. */
const screenshotsAtOnce = 4;

/** The box chooses their number, and the archive has an entry in memory for each. */
export const maxScreenshots = 2_000;

/** The first screenshots, oldest first. @param onMore - called if there are more. */
export async function* screenshotsOf(from: EventsOf, onMore: () => void): AsyncGenerator<Screenshot> {
  let count = 0;
  for await (const chunk of eventsOf(from, { types: ["monitor_screenshot"], limit: screenshotsAtOnce })) {
    for (const { event, seq } of chunk) {
      const { png } = (event.data ?? {}) as { readonly png?: string };
      if (png === undefined) continue;
      count += 1;
      if (count > maxScreenshots) {
        onMore();
        return;
      }
      yield { ts: event.ts, file: `${String(event.ts)}-${String(seq)}.png`, png: Buffer.from(png, "base64") };
    }
  }
}

interface ActOutline {
  readonly ts: number;
  readonly file: string;
  readonly text: string;
}

/** Actions have up to two outlines of 64 KiB. */
const actsAtOnce = 50;

/** The box chooses their number, and the archive has an entry in memory for each. */
export const maxOutlines = 4_000;

/** The first outlines of pages around actions, oldest first. @param onMore - called if there are more. */
export async function* outlinesOf(from: EventsOf, onMore: () => void): AsyncGenerator<ActOutline> {
  let count = 0;
  for await (const chunk of eventsOf(from, { types: ["page_act"], limit: actsAtOnce })) {
    for (const { event, seq } of chunk) {
      if (event.type !== "page_act") continue;
      const { action = "act", outline_after: after, outline_before: before } = event.data ?? {};
      for (const [when, text] of [
        ["before", before],
        ["after", after],
      ] as const) {
        if (text === undefined) continue;
        count += 1;
        if (count > maxOutlines) {
          onMore();
          return;
        }
        yield { ts: event.ts, file: `${String(event.ts)}-${String(seq)}-${when}-${archiveName(action)}.txt`, text };
      }
    }
  }
}
