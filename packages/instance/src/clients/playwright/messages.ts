import type { ContextProxy } from "../../egress/context-proxy.ts";

/** Opens a connection to the browser for one client, and a server of Playwright's protocol on it. */
export interface OpenMessage {
  readonly type: "open";
  readonly id: number;
  /** WebSocket address of the session's CDP gateway. */
  readonly cdp: string;
  /** Folder that the gateway's API paths start from. */
  readonly root: string;
  /** Folder for files of this client: uploads, downloads, traces, HAR. */
  readonly folder: string;
  /** Port of the egress forwarder. */
  readonly exitPort: number;
  /** HTTP address that encodes videos; absent without ffmpeg. */
  readonly videos?: string;
}

export interface CloseMessage {
  readonly type: "close";
  readonly id: number;
}

/** Answers {@link AdmitMessage}. */
export interface AdmittedMessage {
  readonly type: "admitted";
  readonly ask: number;
  /** Port of the egress forwarder for the request; absent if it may not leave. */
  readonly port?: number;
  readonly refusal?: string;
}

/** Messages of a client can break into the process, so the reader checks every field. */
export type BindingMessage =
  | { readonly type: "ready" }
  | { readonly type: "opened"; readonly id: number; readonly port: number; readonly path: string }
  | { readonly type: "failed"; readonly id: number; readonly message: string }
  | AdmitMessage;

/** A request of an API request context is about to leave the session. */
export interface AdmitMessage {
  readonly type: "admit";
  readonly ask: number;
  /** Of its browser context. */
  readonly proxy: ContextProxy | undefined;
}
