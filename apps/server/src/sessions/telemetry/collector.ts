import { instanceControl, maxTelemetryLineBytes, type SelectTelemetry } from "@shoal/instance";
import { BoundedBytes } from "@shoal/primitives/node";
import { callInstance, type Instance, Pace, streamFromInstance } from "@shoal/placement";
import type { IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import pTimeout from "p-timeout";
import type { Log } from "../../log/log.ts";
import { type EventWriter, seqOf, writeEvents } from "../../storage/telemetry-files/event-files.ts";

export interface Collector {
  /** @throws when the instance rejects them. */
  select(categories: SelectTelemetry["categories"]): Promise<void>;
  /** Waits up to five seconds for pending events. Call it before stopping the instance. Never rejects. */
  finish(): Promise<void>;
  /** Resolves when the last event is saved. */
  readonly done: Promise<void>;
  position(): CollectorPosition;
  /** Calls back after each save. @returns a function that removes the listener. */
  onKept(listener: () => void): () => void;
}

export interface CollectorPosition {
  /** After the last event. */
  readonly place: number;
  /** Of the last event; 0 before the first. */
  readonly seq: number;
}

export interface CollectorOptions {
  readonly instance: Instance;
  readonly directory: string;
  readonly maxBytes: number;
  readonly log: Log;
}

/** Long enough for a busy machine; short enough for an instance that does not answer. */
const finishTimeoutMs = 5_000;
const selectTimeoutMs = 10_000;

async function select(instance: Instance, selection: SelectTelemetry, timeoutMs: number): Promise<void> {
  await callInstance(instance, instanceControl.selectTelemetry, {
    body: selection,
    signal: AbortSignal.timeout(timeoutMs),
  });
}

export function collectEvents({ instance, directory, maxBytes, log }: CollectorOptions): Collector {
  const writer = writeEvents(directory, maxBytes);
  const listeners = new Set<() => void>();
  let position: CollectorPosition = { place: 0, seq: 0 };
  let finishing = false;
  const closing = new AbortController();

  function kept(lines: Buffer): void {
    const last = lines.lastIndexOf(10, -2) + 1;
    position = { place: writer.place, seq: seqOf(lines.toString("utf8", last, last + 32)) ?? position.seq };
    for (const listener of listeners) listener();
  }

  async function collect(): Promise<void> {
    try {
      const answer = await streamFromInstance(instance, instanceControl.followTelemetry, {
        query: { after: 0 },
        signal: closing.signal,
      });
      await keep(answer, writer, kept);
    } catch (error) {
      // A killed instance leaves an incomplete line; complete lines are saved.
      if (!finishing) log.warn({ instance_id: instance.id, err: error }, "the telemetry of a session was interrupted");
    }
    await writer.close().catch(() => undefined);
  }
  const done = collect();

  return {
    done,
    position: () => position,
    onKept(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    select: (categories) => select(instance, { categories: [...categories] }, selectTimeoutMs),
    async finish() {
      finishing = true;
      // Fails when the instance has already ended.
      const selected = select(instance, { categories: [], final: true }, finishTimeoutMs).catch(() => undefined);
      const finished = selected.then(() => done);
      await pTimeout(finished, { milliseconds: finishTimeoutMs, fallback: () => undefined });
      // An instance behind a lost connection does not end the stream.
      closing.abort();
    },
  };
}

/** Minimum length of an event; shorter lines cost the reader more than the sender. */
const minLineBytes = 32;
/** For the bytes of one session. A page with 30,000 resources sends 25 MB; the instance waits for a slow service. */
const rate = { burst: 64 * 2 ** 20, perSecond: 8 * 2 ** 20 };

/** Writes complete lines as they arrive. With a slow disk the instance waits; dropped events are a gap in `seq`. */
async function keep(answer: IncomingMessage, writer: EventWriter, kept: (lines: Buffer) => void): Promise<void> {
  const rest = new BoundedBytes(maxTelemetryLineBytes);
  const pace = new Pace(rate);
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    const end = chunk.lastIndexOf(10);
    if (end !== -1) {
      const lines = Buffer.concat([rest.take(), chunk.subarray(0, end + 1)]);
      if (countLines(lines) * minLineBytes > lines.length)
        throw new Error("The lines of telemetry are too short for events.");
      await writer.append(lines);
      kept(lines);
    }
    if (!rest.append(chunk.subarray(end + 1))) throw new Error("A line of telemetry exceeds the limit.");
    const waitMs = pace.spend(chunk.length);
    if (waitMs > 0) await delay(waitMs);
  }
}

function countLines(lines: Buffer): number {
  let count = 0;
  for (let end = lines.indexOf(10); end !== -1; end = lines.indexOf(10, end + 1)) count += 1;
  return count;
}
