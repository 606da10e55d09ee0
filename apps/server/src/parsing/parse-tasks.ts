import type { MessagePort } from "node:worker_threads";
import type { HistoryQuestion, HistoryPage } from "../telemetry/history.ts";

/** What parse workers do: for each kind of job what it is given and what it gives. Both cross between threads, so they hold plain data and bytes. */
export interface ParseTasks {
  /** Source: a profile's archive. Gives the JSON of a `StorageState`; an empty one where the archive has no saved state. */
  readonly storageState: { readonly input: undefined; readonly result: Uint8Array<ArrayBuffer> };
  /** A page of a session's telemetry. */
  readonly telemetryHistory: { readonly input: HistoryQuestion; readonly result: HistoryPage };
}

export type ParseKind = keyof ParseTasks;

/** What a worker is sent: one job, and a port for its source and its outcome. */
export interface ParseRequest {
  readonly kind: ParseKind;
  readonly input: unknown;
  readonly port: MessagePort;
}

/** From a worker, over the port of its job. */
export type WorkerMessage =
  /** Asks for the next bytes of the source. */
  | { readonly type: "pull" }
  | { readonly type: "done"; readonly result: unknown }
  /** `isInvalid`: the data is at fault, not the program. */
  | { readonly type: "failed"; readonly message: string; readonly isInvalid: boolean };

/** To a worker, one for each `pull`: bytes, or the end of the source. */
export type SourceMessage = { readonly bytes: Uint8Array } | { readonly end: true };
