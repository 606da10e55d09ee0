// Runs one job at a time; the pool (parse-pool.ts) terminates this worker after the time limit.
import { messageOf } from "@shoal/primitives";
import { once } from "node:events";
import { Readable } from "node:stream";
import { type MessagePort, parentPort } from "node:worker_threads";
import type { UnpackRequest } from "../archives/unpack-zip.ts";
import type { HistoryQuestion } from "../telemetry-files/history.ts";
import type { SearchAnswerRequest } from "./search-answer.ts";
import type { ParseRequest, ParseTasks, SourceMessage, WorkerMessage } from "./parse-tasks.ts";

const invalidData: ReadonlySet<string> = new Set(["ArchiveProblem", "BadProfileArchive", "BadSearchAnswer"]);

interface Outcome {
  readonly result: unknown;
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

/** Loads the code of each kind with its first job. */
async function work({ kind, input }: ParseRequest, port: MessagePort): Promise<Outcome> {
  switch (kind) {
    case "storageState": {
      const { storageStateJson } = await import("./storage-state-json.ts");
      const json = await storageStateJson(Readable.from(sourceOf(port), { objectMode: false }));
      return { result: json, transfer: [json.buffer] };
    }
    case "unpackZip": {
      const { unpackZip } = await import("../archives/unpack-zip.ts");
      return { result: await unpackZip(input as UnpackRequest), transfer: [] };
    }
    case "signInPage": {
      const { readSight } = await import("@shoal/login");
      // `ParseTasks` ties the input to the kind.
      const { status, text } = input as ParseTasks["signInPage"]["input"];
      return { result: readSight(text, status), transfer: [] };
    }
    case "searchAnswer": {
      const { readSearchAnswer } = await import("./search-answer.ts");
      return { result: await readSearchAnswer(sourceOf(port), input as SearchAnswerRequest), transfer: [] };
    }
    case "lastPicture": {
      const { readLastPicture } = await import("../telemetry-files/last-picture.ts");
      const page = await readLastPicture(input as HistoryQuestion);
      return { result: page, transfer: [page.items.buffer] };
    }
    case "telemetryHistory": {
      const { readHistory } = await import("../telemetry-files/history.ts");
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
    const message = messageOf(error);
    port.postMessage({
      type: "failed",
      message,
      isInvalid: error instanceof Error && invalidData.has(error.name),
    } satisfies WorkerMessage);
  } finally {
    port.close();
  }
}

parentPort?.on("message", (request: ParseRequest) => void answer(request));
