import pTimeout from "p-timeout";
import type { CollectorPosition } from "../collector.ts";
import { type EventChunk, seqOf } from "../../../storage/telemetry-files/event-files.ts";
import type { DestinationAddress } from "../../../resources/telemetry-destinations/destinations.ts";
import type { SendResult } from "./send.ts";

export interface ExportCounter {
  sent(events: number): void;
  rejected(events: number): void;
  /** @param why - for the log. */
  dropped(events: number, why: string): void;
  retried(why: string): void;
}

export interface SessionExportParts {
  readonly events: {
    position(): CollectorPosition;
    onKept(listener: () => void): () => void;
    read(place: number, maxBytes: number): Promise<EventChunk | undefined>;
  };
  /** `undefined` = the destination was deleted. */
  readonly destination: () => Promise<DestinationAddress | undefined>;
  readonly send: (
    to: DestinationAddress,
    lines: readonly string[],
    signal: AbortSignal,
  ) => Promise<{ readonly result: SendResult; readonly rejected: number }>;
  /** Limits concurrent requests to one destination. */
  readonly gate: <T>(run: () => Promise<T>) => Promise<T>;
  readonly counter: ExportCounter;
}

/** Limits of one request; a single longer event is still sent. */
const maxBatchEvents = 512;
const maxBatchBytes = 512 * 1024;
const gatherMs = 1_000;
const finishMs = 60_000;
const firstRetryMs = 1_000;
const maxRetryMs = 60_000;
/** Limits requests to a destination that rejects everything. */
const refusedPauseMs = 1_000;

/** Exponential backoff with jitter. */
export function retryDelayMs(failures: number, random = Math.random()): number {
  return Math.min(maxRetryMs, firstRetryMs * 2 ** Math.min(failures - 1, 10)) * (0.5 + random / 2);
}

export class SessionExport {
  readonly #events: {
    position(): CollectorPosition;
    onKept(listener: () => void): () => void;
    read(place: number, maxBytes: number): Promise<EventChunk | undefined>;
  };
  readonly #destination: () => Promise<DestinationAddress | undefined>;
  readonly #send: (
    to: DestinationAddress,
    lines: readonly string[],
    signal: AbortSignal,
  ) => Promise<{ readonly result: SendResult; readonly rejected: number }>;
  readonly #gate: <T>(run: () => Promise<T>) => Promise<T>;
  readonly #counter: ExportCounter;
  #place: number;
  #seq: number;
  #end: CollectorPosition | undefined;
  #lastTry = false;
  #isMore = false;
  #failures = 0;
  readonly #aborting = new AbortController();
  #bell = Promise.withResolvers<undefined>();
  #finishTimer: NodeJS.Timeout | undefined;
  /** Resolves when all events are sent or dropped. */
  readonly done: Promise<void>;

  constructor({ events, destination, send, gate, counter }: SessionExportParts) {
    this.#events = events;
    this.#destination = destination;
    this.#send = send;
    this.#gate = gate;
    this.#counter = counter;
    const from = events.position();
    this.#place = from.place;
    this.#seq = from.seq;
    const stopListening = events.onKept(() => {
      this.#ring();
    });
    this.#aborting.signal.addEventListener(
      "abort",
      () => {
        this.#ring();
      },
      { once: true },
    );
    this.done = this.#run().finally(() => {
      stopListening();
      clearTimeout(this.#finishTimer);
    });
  }

  /** Call after the last event: sends the remaining events within a time limit. Idempotent. */
  finish(): void {
    if (this.#end !== undefined) return;
    this.#end = this.#events.position();
    this.#finishTimer = setTimeout(() => {
      this.giveUp();
    }, finishMs).unref();
    this.#ring();
  }

  /** Like {@link finish}, with at most one more try. */
  hurry(): void {
    this.finish();
    this.#lastTry = true;
    this.#ring();
  }

  giveUp(): void {
    this.#end ??= this.#events.position();
    this.#aborting.abort();
  }

  #ring(): void {
    this.#bell.resolve(undefined);
    this.#bell = Promise.withResolvers();
  }

  /** Resolves after `ms`, or earlier on a new event or state change. */
  async #pause(ms: number): Promise<void> {
    await pTimeout(this.#bell.promise, { milliseconds: ms, fallback: () => undefined });
  }

  async #pauseUntil(atMs: number, isOver: () => boolean): Promise<void> {
    for (
      let left = atMs - performance.now();
      left > 0 && !isOver() && !this.#aborting.signal.aborted;
      left = atMs - performance.now()
    )
      await this.#pause(left);
  }

  #waiting() {
    return (this.#end ?? this.#events.position()).place - this.#place;
  }

  /** @returns `false` at the end. */
  async #gather(): Promise<boolean> {
    while (this.#waiting() <= 0) {
      if (this.#end !== undefined || this.#aborting.signal.aborted) return false;
      await this.#bell.promise;
    }
    await this.#pauseUntil(
      performance.now() + gatherMs,
      () => this.#end !== undefined || this.#isMore || this.#waiting() >= maxBatchBytes,
    );
    return !this.#aborting.signal.aborted;
  }

  async #next(): Promise<EventChunk | undefined> {
    const chunk = await this.#events.read(this.#place, Math.min(maxBatchBytes, this.#waiting()));
    if (chunk === undefined) return undefined;
    this.#isMore = chunk.lines.length > maxBatchEvents;
    const ends = chunk.ends.slice(0, maxBatchEvents);
    return {
      start: chunk.start,
      lines: chunk.lines.slice(0, maxBatchEvents),
      ends,
      next: ends.at(-1) ?? chunk.next,
    };
  }

  /** @returns the delay before the next request, if any. */
  async #step(): Promise<number | undefined> {
    if (this.#aborting.signal.aborted) return undefined;
    const chunk = await this.#next();
    if (chunk === undefined) {
      this.#drop("its file is gone");
      return undefined;
    }
    if (chunk.start > this.#place) {
      // Retention deleted files in between.
      const first = seqOf(chunk.lines[0] ?? "") ?? this.#seq + 1;
      if (first > this.#seq + 1) this.#counter.dropped(first - this.#seq - 1, "retention removed them");
      this.#place = chunk.start;
      this.#seq = first - 1;
      return undefined;
    }
    const to = await this.#destination();
    if (to === undefined) {
      this.#drop("the destination was deleted");
      return undefined;
    }
    const { result, rejected } = await this.#send(to, chunk.lines, this.#aborting.signal);
    if (result.outcome === "later") {
      this.#failures += 1;
      this.#counter.retried(result.why);
      return result.retryAfterMs ?? retryDelayMs(this.#failures);
    }
    this.#failures = 0;
    this.#place = chunk.next;
    this.#seq = seqOf(chunk.lines.at(-1) ?? "") ?? this.#seq;
    if (result.outcome === "refused") {
      this.#counter.dropped(chunk.lines.length, result.why);
      return refusedPauseMs;
    }
    this.#counter.sent(chunk.lines.length - rejected);
    if (rejected > 0) this.#counter.rejected(rejected);
    return undefined;
  }

  #drop(why: string): void {
    const position = this.#end ?? this.#events.position();
    if (position.seq > this.#seq) this.#counter.dropped(position.seq - this.#seq, why);
    ({ place: this.#place, seq: this.#seq } = position);
  }

  async #run(): Promise<void> {
    while (await this.#gather()) {
      const isLast = this.#lastTry;
      let waitMs: number | undefined;
      try {
        waitMs = await this.#gate(() => this.#step());
      } catch (error) {
        this.#failures += 1;
        this.#counter.retried(error instanceof Error ? error.name : "unknown");
        waitMs = retryDelayMs(this.#failures);
      }
      if (waitMs === undefined) continue;
      if (isLast) break;
      await this.#pauseUntil(performance.now() + waitMs, () => this.#lastTry);
    }
    this.#drop("the session ended before the destination took them");
  }
}

/** Reads the event files, so that an unavailable destination needs no memory. Drops events that retention deletes. */
export function exportSession(parts: SessionExportParts): SessionExport {
  return new SessionExport(parts);
}
