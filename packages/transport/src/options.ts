import type { UploadProgress } from "./upload.ts";

/** Where the transport reports what it does; a pino logger fits. Never gets a key, a header's value or a body. */
export interface TransportLogger {
  /** Requests and answers, with their times. */
  debug(fields: object, message: string): void;
  /** What is repeated, lost, or does not fit the contract, and fields that the service ignored. */
  warn(fields: object, message: string): void;
}

/** A request about to be sent. */
export interface RequestInfo {
  /** `profiles.get` */
  readonly operationId: string;
  readonly method: string;
  readonly url: string;
  /** What will be sent, but for the key; may be changed. */
  readonly headers: Headers;
  /** 1 for the first try. */
  readonly attempt: number;
}

/** An answer whose headers have come. */
export interface ResponseInfo extends RequestInfo {
  readonly status: number;
  readonly responseHeaders: Headers;
  /** From sending to the headers, in milliseconds. */
  readonly durationMs: number;
}

/** A try that got no answer. */
export interface FailureInfo extends RequestInfo {
  /** Why: a {@link ConnectionError}, a {@link TimeoutError}, or the reason of the signal that ended it. */
  readonly error: unknown;
  /** From sending to the failure, in milliseconds. */
  readonly durationMs: number;
}

/** A failed try that is about to be repeated. */
export interface RetryInfo {
  readonly operationId: string;
  /** The try that failed, 1 for the first. */
  readonly attempt: number;
  /** Milliseconds until the next one. */
  readonly delayMs: number;
  readonly error: Error;
}

/** Called once a try: `onRequest`, then `onResponse` or `onFailure` with the same `headers` object. What they throw, the call rejects with. */
export interface TransportHooks {
  /** Before each try; may change the headers. */
  onRequest?(request: RequestInfo): void | Promise<void>;
  /** When the headers of an answer have come, errors too. */
  onResponse?(response: ResponseInfo): void | Promise<void>;
  /** What it throws is lost: the call rejects with the failure itself. */
  onFailure?(failure: FailureInfo): void | Promise<void>;
  /** When a try failed and another one will follow. */
  onRetry?(retry: RetryInfo): void | Promise<void>;
}

/** What happens to an answer that does not fit the contract: the call rejects, the logger is told, or nobody looks. */
export type Validation = "error" | "warn" | "off";

/** Where the service is, who calls it, and how long and how often is tried. {@link CallOptions} may differ for one call. */
export interface TransportOptions {
  /** Address of the service, `http://127.0.0.1:7777`; a path in it is kept. */
  readonly baseUrl: string | URL;
  /** Sent as `Authorization: Bearer …`, to `baseUrl` only: redirects are not followed. May be absent where only operations without a key are called. */
  readonly apiKey?: string | undefined;
  /** Id or name of the project that calls are about; an organisation-wide key otherwise uses the default project. */
  readonly project?: string | undefined;
  /** Replaces the runtime's `fetch`. It gets one `Request`. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Sent with every request. Values of headers whose name tells of a secret (`cookie`, `…-token`, `…-key`) are kept out of errors and logs, as the key is. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Milliseconds that one try may take to the answer's headers, and again to the end of its body; 60000 when absent.
   * Of an upload and a download it is the longest time in which no byte moves.
   */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds for a call with all its tries; no limit when absent. */
  readonly totalTimeoutMs?: number | undefined;
  /** Tries after the first, 2 when absent. */
  readonly maxRetries?: number | undefined;
  /**
   * Requests under way at a time, 400 when absent; further ones wait for their turn, so that ten thousand calls at once do not use up the
   * sockets of a process. Event streams and downloads count until they begin.
   */
  readonly maxConcurrency?: number | undefined;
  /** `error` when absent, but of the events of a stream only the envelope and the kind are checked then. */
  readonly validate?: Validation | undefined;
  readonly logger?: TransportLogger | undefined;
  /** Several are called one after another. */
  readonly hooks?: TransportHooks | readonly TransportHooks[] | undefined;
}

/** How one call differs from what the transport was made with. */
export interface CallOptions {
  /** Ends the call, which then rejects with the signal's own reason. */
  readonly signal?: AbortSignal | undefined;
  /** @see {@link TransportOptions.timeoutMs} */
  readonly timeoutMs?: number | undefined;
  /** @see {@link TransportOptions.totalTimeoutMs} */
  readonly totalTimeoutMs?: number | undefined;
  /** @see {@link TransportOptions.maxRetries} */
  readonly maxRetries?: number | undefined;
  /** Names a POST, so that the service carries it out once however often it arrives; a random one when absent. With `false` none is sent, and the POST is not repeated. */
  readonly idempotencyKey?: string | false | undefined;
  /** Sent beside the transport's own. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** @see {@link TransportOptions.validate} */
  readonly validate?: Validation | undefined;
  /** Told of every chunk of an upload that is handed to the connection. Starts again at 0 when the upload is repeated. Not called in web pages. */
  readonly onUploadProgress?: ((progress: UploadProgress) => void) | undefined;
}

/** How far a download is. */
export interface DownloadProgress {
  readonly receivedBytes: number;
  /** Bytes in all, where the service said. */
  readonly totalBytes: number | undefined;
}

/** How one download differs from what the transport was made with. */
export interface DownloadOptions extends CallOptions {
  /** Told of every chunk that was read. */
  readonly onDownloadProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/** Events that can no longer be had. */
export interface StreamGap {
  /** How many, where the service knows. */
  readonly missed: number | undefined;
}

/** How one event stream differs from what the transport was made with, and where it begins. */
export interface StreamOptions extends Omit<CallOptions, "onUploadProgress" | "idempotencyKey" | "validate"> {
  /**
   * `error` and `warn` check each event whole, which costs more than all else that is done to it. When neither the stream nor the
   * transport says anything, events are checked for being objects with their required fields and a kind; others reject as with `error`.
   */
  readonly validate?: Validation | undefined;
  /** Begin after this event. */
  readonly lastEventId?: string | undefined;
  /** Told when events were lost: the reader was too slow, or away for too long. Without it the logger is told. */
  readonly onGap?: ((gap: StreamGap) => void) | undefined;
  /** Told before a lost connection is opened again. */
  readonly onReconnect?: ((retry: { readonly attempt: number; readonly delayMs: number; readonly error: Error }) => void) | undefined;
  /** Milliseconds of silence after which the connection counts as lost; 30000, two heartbeats, when absent; `false` for services without a heartbeat. */
  readonly idleTimeoutMs?: number | false | undefined;
  /** Tries to get a lost connection back, before the stream rejects; 5 when absent. Counted anew when the stream gets on. */
  readonly maxReconnects?: number | undefined;
}
