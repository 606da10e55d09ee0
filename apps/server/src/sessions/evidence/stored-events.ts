import type { TelemetryEnvelope } from "@shoal/schemas";
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
