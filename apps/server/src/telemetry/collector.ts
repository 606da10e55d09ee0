import { maxTelemetryLineBytes } from "@shoal/instance";
import type { Instance } from "@shoal/placement";
import type { IncomingMessage } from "node:http";
import { json } from "node:stream/consumers";
import type { Log } from "../log.ts";
import { type EventWriter, writeEvents } from "./event-files.ts";

/** Keeps the events of one running session. */
export interface Collector {
  /** Captures these categories from now on. @throws when the instance does not take them. */
  select(categories: readonly string[]): Promise<void>;
  /** Stops the capture and waits for what is on its way, a second at most. Called before the instance is stopped; never rejects. */
  finish(): Promise<void>;
  /** Resolves when no more of its events come, and all that came are kept. */
  readonly done: Promise<void>;
}

export interface CollectorOptions {
  readonly instance: Instance;
  /** Where the events go. */
  readonly directory: string;
  /** Of one session. */
  readonly maxBytes: number;
  readonly log: Log;
}

const finishTimeoutMs = 1_000;
const selectTimeoutMs = 10_000;

/** Tells an instance what to capture. @returns the number of its latest event. */
async function select(instance: Instance, categories: readonly string[], timeoutMs: number): Promise<number> {
  const answer = await instance.request(
    { method: "POST", path: "/_instance/telemetry", headers: { "content-type": "application/json" }, signal: AbortSignal.timeout(timeoutMs) },
    JSON.stringify({ categories }),
  );
  const said: unknown = await json(answer);
  if (answer.statusCode !== 200) throw new Error(`The instance answered ${String(answer.statusCode)} to a selection of telemetry.`);
  return typeof said === "object" && said !== null && "last_seq" in said && typeof said.last_seq === "number" ? said.last_seq : 0;
}

/** Follows an instance's events and keeps them, until it ends. */
export function collectEvents({ instance, directory, maxBytes, log }: CollectorOptions): Collector {
  const writer = writeEvents(directory, maxBytes);
  const waiting: { readonly seq: number; readonly resolve: (value: undefined) => void }[] = [];
  let keptSeq = 0;
  let finishing = false;

  function keptUpTo(seq: number): void {
    keptSeq = Math.max(keptSeq, seq);
    for (const wait of waiting) if (wait.seq <= keptSeq) wait.resolve(undefined);
  }

  async function collect(): Promise<void> {
    try {
      const answer = await instance.request({ method: "GET", path: "/_instance/telemetry?after=0" });
      if (answer.statusCode !== 200) {
        answer.destroy();
        throw new Error(`The instance answered ${String(answer.statusCode)} to the reader of its telemetry.`);
      }
      await keep(answer, writer, keptUpTo);
    } catch (error) {
      // An instance that is killed breaks off in the midst of a line; what was whole is kept.
      if (!finishing) log.warn({ instance_id: instance.id, err: error }, "the telemetry of a session broke off");
    }
    await writer.close().catch(() => undefined);
    for (const { resolve } of waiting) resolve(undefined);
  }
  const done = collect();

  return {
    done,
    async select(categories) {
      await select(instance, categories, selectTimeoutMs);
    },
    async finish() {
      finishing = true;
      const timeout = Promise.withResolvers<undefined>();
      const timer = setTimeout(timeout.resolve, finishTimeoutMs, undefined);
      try {
        const seq = await Promise.race([select(instance, [], finishTimeoutMs), done.then(() => undefined), timeout.promise]);
        if (seq === undefined || seq <= keptSeq) return;
        const kept = Promise.withResolvers<undefined>();
        waiting.push({ seq, resolve: kept.resolve });
        await Promise.race([kept.promise, done, timeout.promise]);
      } catch {
        // It is gone already.
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** Writes whole lines as they come; the instance waits while the disk is slow, and what it cannot keep meanwhile shows as a gap in `seq`. */
async function keep(answer: IncomingMessage, writer: EventWriter, kept: (seq: number) => void): Promise<void> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    const end = chunk.lastIndexOf(10);
    if (end === -1) {
      rest.push(chunk);
      restBytes += chunk.length;
      if (restBytes > maxTelemetryLineBytes) throw new Error("A line of telemetry is longer than any may be.");
      continue;
    }
    const lines = Buffer.concat([...rest, chunk.subarray(0, end + 1)]);
    rest = [chunk.subarray(end + 1)];
    restBytes = chunk.length - end - 1;
    await writer.append(lines);
    const last = lines.subarray(lines.lastIndexOf(10, lines.length - 2) + 1);
    kept(Number(/^\{"seq":(\d{1,15}),/.exec(last.toString("latin1", 0, 32))?.[1] ?? 0));
  }
}
