import type { MessagePort } from "node:worker_threads";
import type { PageSight } from "@shoal/login";
import type { Unpacked, UnpackRequest } from "../archives/unpack-zip.ts";
import type { HistoryQuestion, HistoryPage } from "../telemetry-files/history.ts";
import type { FoundResults, SearchAnswerRequest } from "./search-answer.ts";

/** Inputs and outputs are plain data and bytes, since both cross threads. */
export interface ParseTasks {
  /** Source: the archive of a profile. Returns the JSON of a `StorageState`, empty without a saved state. */
  readonly storageState: { readonly input: undefined; readonly result: Uint8Array<ArrayBuffer> };
  readonly unpackZip: { readonly input: UnpackRequest; readonly result: Unpacked };
  /** The outline of a page that signs in. `status` is that of its response. */
  readonly signInPage: {
    readonly input: { readonly text: string; readonly status: number | undefined };
    readonly result: PageSight;
  };
  /** Source: the answer of a provider of searches. */
  readonly searchAnswer: { readonly input: SearchAnswerRequest; readonly result: FoundResults };
  readonly lastPicture: { readonly input: HistoryQuestion; readonly result: HistoryPage };
  readonly telemetryHistory: { readonly input: HistoryQuestion; readonly result: HistoryPage };
}

export type ParseKind = keyof ParseTasks;

export interface ParseRequest {
  readonly kind: ParseKind;
  readonly input: unknown;
  readonly port: MessagePort;
}

export type WorkerMessage =
  | { readonly type: "pull" }
  | { readonly type: "done"; readonly result: unknown }
  /** `isInvalid`: the data is at fault, not the program. */
  | { readonly type: "failed"; readonly message: string; readonly isInvalid: boolean };

export type SourceMessage = { readonly bytes: Uint8Array } | { readonly end: true };
