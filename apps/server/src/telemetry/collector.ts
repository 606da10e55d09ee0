import { maxTelemetryLineBytes, type SelectTelemetry } from "@shoal/instance";
import { answerText, BoundedBytes, type Instance, Pace } from "@shoal/placement";
import type { IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../log.ts";
import { type EventWriter, seqOf, writeEvents } from "./event-files.ts";

/** Keeps the events of one running session. */
export interface Collector {
  /** Captures these categories from now on. @throws when the instance does not take them. */
  select(categories: SelectTelemetry["categories"]): Promise<void>;
  /** Ends the telemetry, for those that stream it too, and waits for what is on its way, five seconds at most. Called before the instance is stopped; never rejects. */
  finish(): Promise<void>;
  /** Resolves when no more of its events come, and all that came are kept. */
  readonly done: Promise<void>;
  /** How far it has come. */
  position(): CollectorPosition;
  /** Calls back each time more is kept. @returns stops it. */
  onKept(listener: () => void): () => void;
}

/** How much of a session is kept. */
export interface CollectorPosition {
  /** Place after the last event, among all that were written. */
  readonly place: number;
  /** Number of the last event; 0 before the first. */
  readonly seq: number;
}

export interface CollectorOptions {
  readonly instance: Instance;
  /** Where the events go. */
  readonly directory: string;
  /** Of one session. */
  readonly maxBytes: number;
  readonly log: Log;
}

/** A machine with much to do is slow; an instance that does not answer at all must not hold up the end for long. */
const finishTimeoutMs = 5_000;
const selectTimeoutMs = 10_000;

/** Tells an instance what to capture. */
async function select(instance: Instance, selection: SelectTelemetry, timeoutMs: number): Promise<void> {
  const answer = await instance.request(
    { method: "POST", path: "/_instance/telemetry", headers: { "content-type": "application/json" }, signal: AbortSignal.timeout(timeoutMs) },
    JSON.stringify(selection),
  );
  await answerText(answer);
  if (answer.statusCode !== 200) throw new Error(`The instance answered ${String(answer.statusCode)} to a selection of telemetry.`);
}

/** Follows an instance's events and keeps them, until it ends. */
export function collectEvents({ instance, directory, maxBytes, log }: CollectorOptions): Collector {
  const writer = writeEvents(directory, maxBytes);
  const listeners = new Set<() => void>();
  let position: CollectorPosition = { place: 0, seq: 0 };
  let finishing = false;

  function kept(lines: Buffer): void {
    const last = lines.lastIndexOf(10, -2) + 1;
    position = { place: writer.place, seq: seqOf(lines.toString("utf8", last, last + 32)) ?? position.seq };
    for (const listener of listeners) listener();
  }

  async function collect(): Promise<void> {
    try {
      const answer = await instance.request({ method: "GET", path: "/_instance/telemetry?after=0" });
      if (answer.statusCode !== 200) {
        answer.destroy();
        throw new Error(`The instance answered ${String(answer.statusCode)} to the reader of its telemetry.`);
      }
      await keep(answer, writer, kept);
    } catch (error) {
      // An instance that is killed breaks off in the midst of a line; what was whole is kept.
      if (!finishing) log.warn({ instance_id: instance.id, err: error }, "the telemetry of a session broke off");
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
      const timeout = Promise.withResolvers<undefined>();
      const timer = setTimeout(timeout.resolve, finishTimeoutMs, undefined);
      try {
        await Promise.race([select(instance, { categories: [], final: true }, finishTimeoutMs).then(() => done), timeout.promise]);
      } catch {
        // It is gone already.
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** Shortest line that can be an event; shorter ones cost their readers more than they cost the sender. */
const minLineBytes = 32;
/** Bytes that one session may send at once, and in the long run. A page that loads 30,000 resources sends 25 MB; the instance waits while the service reads slower. */
const rate = { burst: 64 * 2 ** 20, perSecond: 8 * 2 ** 20 };

/** Writes whole lines as they come; the instance waits while the disk is slow, and what it cannot keep meanwhile shows as a gap in `seq`. */
async function keep(answer: IncomingMessage, writer: EventWriter, kept: (lines: Buffer) => void): Promise<void> {
  const rest = new BoundedBytes(maxTelemetryLineBytes);
  const pace = new Pace(rate);
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    const end = chunk.lastIndexOf(10);
    if (end !== -1) {
      const lines = Buffer.concat([rest.take(), chunk.subarray(0, end + 1)]);
      if (countLines(lines) * minLineBytes > lines.length) throw new Error("The lines of telemetry are shorter than events are.");
      await writer.append(lines);
      kept(lines);
    }
    if (!rest.append(chunk.subarray(end + 1))) throw new Error("A line of telemetry is longer than any may be.");
    const waitMs = pace.spend(chunk.length);
    if (waitMs > 0) await delay(waitMs);
  }
}

function countLines(lines: Buffer): number {
  let count = 0;
  for (let end = lines.indexOf(10); end !== -1; end = lines.indexOf(10, end + 1)) count += 1;
  return count;
}
