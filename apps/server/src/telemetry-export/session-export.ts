import type { CollectorPosition } from "../telemetry/collector.ts";
import { type EventChunk, seqOf } from "../telemetry/event-files.ts";
import type { DestinationAddress } from "../telemetry-destinations/destinations.ts";
import type { SendResult } from "./send.ts";

/** The events of one session, on their way to one destination. */
export interface SessionExport {
  /** No more events come for it: what has come is sent, for as long as that may take. May be called again. */
  finish(): void;
  /** As {@link finish}, with one more try at the most. */
  hurry(): void;
  /** Gives up what was not sent, at once. */
  giveUp(): void;
  /** Resolves when everything was sent, or given up. */
  readonly done: Promise<void>;
}

/** What becomes of events. */
export interface ExportCounter {
  sent(events: number): void;
  /** The destination took the request, but not these. */
  rejected(events: number): void;
  /** @param why - for the operator's log. */
  dropped(events: number, why: string): void;
  /** A request has to be repeated. */
  retried(why: string): void;
}

export interface SessionExportParts {
  /** Where the session's events are read from. */
  readonly events: {
    position(): CollectorPosition;
    onKept(listener: () => void): () => void;
    read(place: number, maxBytes: number): Promise<EventChunk | undefined>;
  };
  /** Where to send them; `undefined` when the destination is gone. */
  readonly destination: () => Promise<DestinationAddress | undefined>;
  /** Sends some lines. */
  readonly send: (
    to: DestinationAddress,
    lines: readonly string[],
    signal: AbortSignal,
  ) => Promise<{ readonly result: SendResult; readonly rejected: number }>;
  /** Keeps requests to one destination from being many at once. */
  readonly gate: <T>(run: () => Promise<T>) => Promise<T>;
  readonly counter: ExportCounter;
}

/** One request holds so many events, and so many bytes of them unless a single one is longer. */
const maxBatchEvents = 512;
const maxBatchBytes = 512 * 1024;
/** Events wait so long for others. */
const gatherMs = 1_000;
/** After the session's end, for a destination that does not answer. */
const finishMs = 60_000;
const firstRetryMs = 1_000;
const maxRetryMs = 60_000;
/** After a refusal, which is for good: a destination that refuses everything is not asked all the time. */
const refusedPauseMs = 1_000;

/** Waits before a request is repeated, in milliseconds: twice as long each time, and never the same for everybody. */
export function retryDelayMs(failures: number, random = Math.random()): number {
  return Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(failures - 1, 10)) * (0.5 + random / 2);
}

/**
 * Begins to send a session's events, those that are kept from now on. They are read from its files, so that nothing of them waits in memory, however long
 * the destination is away: what is too old for the files is dropped.
 */
export function exportSession({ events, destination, send, gate, counter }: SessionExportParts): SessionExport {
  const from = events.position();
  let place = from.place;
  /** Of the last event that was sent, or given up. */
  let seq = from.seq;
  /** Where it ends, once no more come. */
  let end: CollectorPosition | undefined;
  let lastTry = false;
  /** Whether the latest request left some for want of places, not of bytes. */
  let isMore = false;
  let failures = 0;
  const aborting = new AbortController();
  let bell = Promise.withResolvers<undefined>();
  let finishTimer: NodeJS.Timeout | undefined;

  function ring(): void {
    bell.resolve(undefined);
    bell = Promise.withResolvers();
  }
  const stopListening = events.onKept(ring);
  aborting.signal.addEventListener("abort", ring, { once: true });

  /** @returns when the bell rings, or after so long. */
  async function pause(ms: number): Promise<void> {
    const elapsed = Promise.withResolvers<undefined>();
    const timer = setTimeout(elapsed.resolve, ms, undefined);
    await Promise.race([bell.promise, elapsed.promise]);
    clearTimeout(timer);
  }

  async function pauseUntil(atMs: number, isOver: () => boolean): Promise<void> {
    for (let left = atMs - performance.now(); left > 0 && !isOver() && !aborting.signal.aborted; left = atMs - performance.now()) await pause(left);
  }

  const waiting = () => (end ?? events.position()).place - place;

  /** Waits for enough to be worth a request. @returns whether there is anything. */
  async function gather(): Promise<boolean> {
    while (waiting() <= 0) {
      if (end !== undefined || aborting.signal.aborted) return false;
      await bell.promise;
    }
    await pauseUntil(performance.now() + gatherMs, () => end !== undefined || isMore || waiting() >= maxBatchBytes);
    return !aborting.signal.aborted;
  }

  /** What comes next, within the end. */
  async function next(): Promise<EventChunk | undefined> {
    const chunk = await events.read(place, Math.min(maxBatchBytes, waiting()));
    if (chunk === undefined) return undefined;
    const left = chunk.lines.slice(maxBatchEvents);
    isMore = left.length > 0;
    // Line ends are a byte each.
    return {
      start: chunk.start,
      lines: chunk.lines.slice(0, maxBatchEvents),
      next: chunk.next - left.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0),
    };
  }

  /** @returns what to wait for before the next request; `undefined` = nothing. */
  async function step(): Promise<number | undefined> {
    if (aborting.signal.aborted) return undefined;
    const chunk = await next();
    if (chunk === undefined) {
      // Its files are gone: they are older than the service keeps.
      drop("its file is gone");
      return undefined;
    }
    if (chunk.start > place) {
      // Files between have gone meanwhile.
      const first = seqOf(chunk.lines[0] ?? "") ?? seq + 1;
      if (first > seq + 1) counter.dropped(first - seq - 1, "they were too old to be kept");
      place = chunk.start;
      seq = first - 1;
      return undefined;
    }
    const to = await destination();
    if (to === undefined) {
      drop("the destination was deleted");
      return undefined;
    }
    const { result, rejected } = await send(to, chunk.lines, aborting.signal);
    if (result.outcome === "later") {
      failures += 1;
      counter.retried(result.why);
      return result.retryAfterMs ?? retryDelayMs(failures);
    }
    failures = 0;
    place = chunk.next;
    seq = seqOf(chunk.lines.at(-1) ?? "") ?? seq;
    if (result.outcome === "refused") {
      counter.dropped(chunk.lines.length, result.why);
      return refusedPauseMs;
    }
    counter.sent(chunk.lines.length - rejected);
    if (rejected > 0) counter.rejected(rejected);
    return undefined;
  }

  /** Gives up all that is there. */
  function drop(why: string): void {
    const position = end ?? events.position();
    if (position.seq > seq) counter.dropped(position.seq - seq, why);
    ({ place, seq } = position);
  }

  async function run(): Promise<void> {
    while (await gather()) {
      const isLast = lastTry;
      let waitMs: number | undefined;
      try {
        waitMs = await gate(step);
      } catch (error) {
        failures += 1;
        counter.retried(error instanceof Error ? error.name : "unknown");
        waitMs = retryDelayMs(failures);
      }
      if (waitMs === undefined) continue;
      if (isLast) break;
      await pauseUntil(performance.now() + waitMs, () => lastTry);
    }
    drop("the session ended before the destination took them");
  }

  const done = run().finally(() => {
    stopListening();
    clearTimeout(finishTimer);
  });

  const self: SessionExport = {
    done,
    finish() {
      if (end !== undefined) return;
      end = events.position();
      finishTimer = setTimeout(() => {
        self.giveUp();
      }, finishMs).unref();
      ring();
    },
    hurry() {
      self.finish();
      lastTry = true;
      ring();
    },
    giveUp() {
      end ??= events.position();
      aborting.abort();
    },
  };
  return self;
}
