import { readBoundedLines } from "./bounded-lines.ts";
import type { Box, BoxMaker } from "./box.ts";
import { createInstanceHandle, type InstanceHandle } from "./instance-handle.ts";
import type { PlacementLog } from "./placement.ts";
import { PlacementError } from "./placement-error.ts";
import { randomBytes } from "node:crypto";

const maxLineBytes = 4_096;
const keptLines = 20;
/** Lines of one instance that go to the log in a row; a box could otherwise fill the host's disk through it. One is won back every 100 ms. */
const lineBurst = 200;
const lineEveryMs = 100;
/** The window of an instance that waits for a session; its size is changed when one comes. */
const waitingViewport = { width: 1920, height: 1080 };

export interface StartOptions {
  readonly log: PlacementLog;
  /** How long an instance may take until its browser answers, in milliseconds. */
  readonly readyMs: number;
}

/**
 * Starts an instance and waits until its browser answers.
 *
 * @throws {PlacementError} `start_failed` with what it printed last; nothing is left of it, nor when `signal` aborts.
 */
export async function startInstance(maker: BoxMaker, { log, readyMs }: StartOptions, signal: AbortSignal): Promise<InstanceHandle> {
  signal.throwIfAborted();
  const began = performance.now();
  const box = await maker.start(randomBytes(6).toString("hex"), waitingViewport).catch((error: unknown) => {
    throw new PlacementError("start_failed", `An instance could not be started: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  });
  const lastLines = followLines(box, log);
  try {
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(readyMs)]);
    await within(deadline, saysThatItListens(box));
    const handle = createInstanceHandle({ box, kind: maker.kind, socketPath: await box.pinSocket(), log, lastLines });
    await within(deadline, handle.ready);
    log.debug({ instance_id: box.id, pid: box.pid, took_ms: Math.round(performance.now() - began) }, "An instance is ready.");
    return handle;
  } catch (error) {
    box.kill();
    const exit = await box.gone;
    await box.clear();
    signal.throwIfAborted();
    const lines = lastLines();
    const took = performance.now() - began;
    const what =
      took >= readyMs ? `was not ready within ${readyMs / 1000} s` : `ended before it was ready (${exit.signal ?? `exit code ${String(exit.code)}`})`;
    throw new PlacementError(
      "start_failed",
      `An instance ${what}. ${lines === "" ? "It printed nothing." : `It printed last:\n${lines}`}\nRun \`shoal doctor\` to see what this host lacks.`,
      { cause: error },
    );
  }
}

function saysThatItListens(box: Box): Promise<void> {
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
      reject(new Error("Given up."));
    };
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener("abort", stop);
    });
  });
}

/** Passes an instance's lines on to the log, and returns the way to get the last of them. */
function followLines(box: Box, log: PlacementLog): () => string {
  const last: string[] = [];
  let tokens = lineBurst;
  let counted = performance.now();
  let dropped = 0;
  readBoundedLines(box.stderr, maxLineBytes, (line) => {
    last.push(line.slice(0, 500));
    if (last.length > keptLines) last.shift();
    const now = performance.now();
    tokens = Math.min(lineBurst, tokens + (now - counted) / lineEveryMs);
    counted = now;
    if (tokens < 1) {
      dropped += 1;
      return;
    }
    tokens -= 1;
    log.debug({ instance_id: box.id, line, ...(dropped > 0 && { dropped_lines: dropped }) }, "An instance printed.");
    dropped = 0;
  });
  return () => last.join("\n");
}
