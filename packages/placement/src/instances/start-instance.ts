import { anySignal, messageOf } from "@shoal/primitives";
import type { Box, BoxMaker, BoxWishes, Dial } from "../boxes/box.ts";
import { PlacementError } from "../interface/placement-error.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { readBoundedLines } from "../streams/bounded-lines.ts";
import { connectInstance } from "./instance-connection.ts";
import { InstanceHandle } from "./instance-handle.ts";
import type { StoredInstance } from "./stored-instance.ts";
import { TokenBucket } from "./channel/token-bucket.ts";
import { randomBytes } from "node:crypto";

const maxLineBytes = 4_096;
const keptLines = 20;
/** Logged in a row; a box could otherwise fill the host's disk. */
const lineBurst = 200;
const lineEveryMs = 100;
const waitingViewport = { width: 1920, height: 1080 };

export interface StartOptions {
  readonly log: PlacementLog;
  readonly readyMs: number;
  readonly wishes?: BoxWishes;
  readonly onCopy?: (copy: Promise<StoredInstance>) => void;
}

/** Errors and aborts remove all processes and files. @throws {PlacementError} `start_failed`, with the last lines. */
export async function startInstance(
  maker: BoxMaker,
  { log, onCopy, readyMs, wishes }: StartOptions,
  signal: AbortSignal,
): Promise<InstanceHandle> {
  signal.throwIfAborted();
  const beganMs = performance.now();
  const box = await maker
    .start(randomBytes(6).toString("hex"), waitingViewport, { ...wishes, signal })
    .catch((error: unknown) => {
      signal.throwIfAborted();
      if (PlacementError.isInstance(error)) throw error;
      throw new PlacementError("start_failed", `Cannot start an instance: ${messageOf(error)}`, { cause: error });
    });
  return reachBox(box, { log, readyMs, signal }, async ({ deadline, dial, lastLines }) => {
    const handle = new InstanceHandle({ box, kind: maker.kind, dial, log, lastLines, onCopy });
    await within(deadline, handle.ready);
    log.debug(
      { instance_id: box.id, pid: box.pid, took_ms: Math.round(performance.now() - beganMs) },
      "An instance is ready.",
    );
    return handle;
  });
}

export interface ReachedBox {
  readonly dial: Dial;
  /** Of the start. */
  readonly deadline: AbortSignal;
  /** What it printed last. */
  readonly lastLines: () => string;
}

/** Waits until a box listens. Errors, also those of `use`, remove all processes and files. @throws {PlacementError} `start_failed`. */
export async function reachBox<T>(
  box: Box,
  { log, readyMs, signal }: StartOptions & { readonly signal: AbortSignal },
  use: (reached: ReachedBox) => Promise<T>,
): Promise<T> {
  const beganMs = performance.now();
  const lastLines = followLines(box, log);
  try {
    const deadline = anySignal([signal, AbortSignal.timeout(readyMs)]);
    await within(deadline, listening(box));
    return await use({ deadline, lastLines, dial: dialerOf(await within(deadline, box.reach())) });
  } catch (error) {
    box.kill();
    const exit = await box.gone;
    await box.clear();
    signal.throwIfAborted();
    const lines = lastLines();
    if (exit.reason !== undefined)
      throw new PlacementError(
        exit.lacksCapacity === true ? "no_capacity" : "start_failed",
        `An instance could not start: ${exit.reason}`,
        { cause: error },
      );
    const what =
      performance.now() - beganMs >= readyMs
        ? `was not ready within ${readyMs / 1000} s`
        : `ended before it was ready (${exit.signal ?? `exit code ${String(exit.code)}`})`;
    throw new PlacementError(
      "start_failed",
      `An instance ${what}. ${lines === "" ? "It printed nothing." : `It printed last:\n${lines}`}\nRun \`shoal doctor\` to find the cause.`,
      { cause: error },
    );
  }
}

function dialerOf(place: string | Dial): Dial {
  return typeof place === "string" ? () => connectInstance(place) : place;
}

function listening(box: Box): Promise<void> {
  return new Promise((resolve, reject) => {
    readBoundedLines(box.stdout, maxLineBytes, (line) => {
      if (line.trim() === '{"listening":true}') resolve();
    });
    void box.gone.then(() => {
      reject(new Error("The instance ended."));
    });
  });
}

function within<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      reject(new Error("The start was aborted or timed out."));
    };
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener("abort", stop);
    });
  });
}

function followLines(box: Box, log: PlacementLog): () => string {
  const last: string[] = [];
  const tokens = new TokenBucket(lineBurst, lineEveryMs);
  let dropped = 0;
  readBoundedLines(box.stderr, maxLineBytes, (line) => {
    last.push(line.slice(0, 500));
    if (last.length > keptLines) last.shift();
    if (!tokens.take()) {
      dropped += 1;
      return;
    }
    log.debug({ instance_id: box.id, line, ...(dropped > 0 && { dropped_lines: dropped }) }, "An instance printed.");
    dropped = 0;
  });
  return () => last.join("\n");
}
