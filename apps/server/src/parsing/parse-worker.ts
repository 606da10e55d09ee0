// The program of a parse worker: see parse-pool.ts. It does one job at a time and is ended by force where one takes too long.
import { once } from "node:events";
import { Readable } from "node:stream";
import { type MessagePort, parentPort } from "node:worker_threads";
import type { HistoryQuestion } from "../telemetry/history.ts";
import type { ParseRequest, SourceMessage, WorkerMessage } from "./parse-tasks.ts";

interface Outcome {
  readonly result: unknown;
  /** Moved to the main thread, not copied. */
  readonly transfer: readonly ArrayBuffer[];
}

async function* sourceOf(port: MessagePort): AsyncGenerator<Uint8Array, void, undefined> {
  for (;;) {
    port.postMessage({ type: "pull" } satisfies WorkerMessage);
    const [message] = (await once(port, "message")) as [SourceMessage];
    if ("end" in message) return;
    yield message.bytes;
  }
}

/** Loads what a kind of job needs with its first one. */
async function work({ kind, input }: ParseRequest, port: MessagePort): Promise<Outcome> {
  switch (kind) {
    case "storageState": {
      const { storageStateJson } = await import("../profiles/storage-state-json.ts");
      const json = await storageStateJson(Readable.from(sourceOf(port), { objectMode: false }));
      return { result: json, transfer: [json.buffer] };
    }
    case "telemetryHistory": {
      const { readHistory } = await import("../telemetry/history.ts");
      // `ParseTasks` ties the input to the kind.
      const page = await readHistory(input as HistoryQuestion);
      return { result: page, transfer: [page.items.buffer] };
    }
  }
}

async function answer(request: ParseRequest): Promise<void> {
  const { port } = request;
  try {
    const { result, transfer } = await work(request, port);
    port.postMessage({ type: "done", result } satisfies WorkerMessage, [...transfer]);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    port.postMessage({ type: "failed", message, isInvalid: error instanceof Error && error.name === "BadProfileArchive" } satisfies WorkerMessage);
  } finally {
    port.close();
  }
}

parentPort?.on("message", (request: ParseRequest) => void answer(request));
