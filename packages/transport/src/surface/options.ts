/** A logger, such as pino. The transport logs no key, header value or body. */
export interface TransportLogger {
  /** Logs requests and responses with their durations. */
  debug(fields: object, message: string): void;
  /** Logs retries, lost events, contract mismatches and fields that the service ignored. */
  warn(fields: object, message: string): void;
}

/** A request before it is sent. */
export interface RequestInfo {
  /** `profiles.get` */
  readonly operationId: string;
  readonly method: string;
  readonly url: string;
  /** Headers of the request without the key. A hook may change them. */
  readonly headers: Headers;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** A response whose headers have arrived. */
export interface ResponseInfo extends RequestInfo {
  readonly status: number;
  readonly responseHeaders: Headers;
  /** Milliseconds from the start of the attempt to the headers. */
  readonly durationMs: number;
}

/** An attempt without a response. */
export interface FailureInfo extends RequestInfo {
  /** A {@link ConnectionError}, a {@link TimeoutError}, or the reason of the aborted signal. */
  readonly error: unknown;
  /** Milliseconds from the start of the attempt to the failure. */
  readonly durationMs: number;
}

/** A failed attempt that will be repeated. */
export interface RetryInfo {
  readonly operationId: string;
  /** Number of the failed attempt, starting at 1. */
  readonly attempt: number;
  /** Milliseconds until the next attempt. */
  readonly delayMs: number;
  readonly error: Error;
}

/** Called for each attempt: `onRequest`, then `onResponse` or `onFailure` with the same `headers` object. An exception in a hook rejects the call. */
export interface TransportHooks {
  /** May change the headers. */
  onRequest?(request: RequestInfo): void | Promise<void>;
  /** Called when the headers have arrived, also for errors. */
  onResponse?(response: ResponseInfo): void | Promise<void>;
  /** Called when an attempt fails without a response. Exceptions in this hook are ignored. */
  onFailure?(failure: FailureInfo): void | Promise<void>;
  /** Called when an attempt failed and another one follows. */
  onRetry?(retry: RetryInfo): void | Promise<void>;
}

/** Treatment of responses that do not match the contract: reject the call, log a warning, or skip the check. */
export type Validation = "error" | "warn" | "off";

/** Address, credentials, limits and hooks of a transport. {@link CallOptions} override some of them for one call. */
export interface TransportOptions {
  /** Address of the service: `http://127.0.0.1:7777`. May contain a path. */
  readonly baseUrl: string | URL;
  /** Sent as `Authorization: Bearer …`, only to `baseUrl`: redirects are not followed. Optional for operations that need no key. */
  readonly apiKey?: string | undefined;
  /** Id or name of the project. Without it an organisation-wide key uses the default project. */
  readonly project?: string | undefined;
  /** Replaces the runtime's `fetch`. Called with one `Request`. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** Sent with every request. Secret values (`cookie`, `…-token`, `…-key`) are redacted from errors and logs, like the key. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Milliseconds for one attempt up to the headers of the response, and again for its body. Default 60000.
   * For uploads and downloads: the longest time without progress.
   */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds for a call with all its attempts. Default: unlimited. */
  readonly totalTimeoutMs?: number | undefined;
  /** Attempts after the first one. Default 2. */
  readonly maxRetries?: number | undefined;
  /**
   * Concurrent requests; further requests wait, so that ten thousand calls do not exhaust the sockets of a process. Default 400.
   * Event streams and downloads count until their response begins.
   */
  readonly maxConcurrency?: number | undefined;
  /** Default `error`, with a reduced check for events: see {@link StreamOptions.validate}. */
  readonly validate?: Validation | undefined;
  /** Without one, fields that the service ignored are written to the console, each text once. */
  readonly logger?: TransportLogger | undefined;
  /** A list is called in order. */
  readonly hooks?: TransportHooks | readonly TransportHooks[] | undefined;
}

/** Progress of an upload. */
export interface UploadProgress {
  /** Bytes passed to the connection, including the frame of a multipart body. */
  readonly sentBytes: number;
  /** Size of the upload; `undefined` when it contains a stream. */
  readonly totalBytes: number | undefined;
}

/** They override the options of the transport. */
export interface CallOptions {
  /** Aborts the call, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /** @see {@link TransportOptions.timeoutMs} */
  readonly timeoutMs?: number | undefined;
  /** @see {@link TransportOptions.totalTimeoutMs} */
  readonly totalTimeoutMs?: number | undefined;
  /** @see {@link TransportOptions.maxRetries} */
  readonly maxRetries?: number | undefined;
  /** Lets the service execute a repeated POST only once. Default: random. With `false` no key is sent and the POST is not repeated. */
  readonly idempotencyKey?: string | false | undefined;
  /** Sent in addition to the headers of the transport. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** @see {@link TransportOptions.validate} */
  readonly validate?: Validation | undefined;
  /** Called for every uploaded chunk. Restarts at 0 when the upload is repeated. Not called in web pages. */
  readonly onUploadProgress?: ((progress: UploadProgress) => void) | undefined;
  /** Receives the response of the call, after all retries. */
  readonly onAnswer?: ((response: Response) => void) | undefined;
}

/** Progress of a download. */
export interface DownloadProgress {
  readonly receivedBytes: number;
  /** Size of the download, if the service sent it. */
  readonly totalBytes: number | undefined;
}

export interface DownloadOptions extends CallOptions {
  /** Called for every chunk that was read. */
  readonly onDownloadProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/** Events that were lost. */
export interface StreamGap {
  /** How many, where the service knows. */
  readonly missed: number | undefined;
}

/** Options of one event stream. */
export interface StreamOptions extends Omit<CallOptions, "onUploadProgress" | "idempotencyKey" | "validate"> {
  /**
   * `error` and `warn` check every field of each event, which costs more than its transport. By default, if the transport sets
   * nothing either, only the required fields and the kind of an event are checked; a mismatch rejects the stream.
   */
  readonly validate?: Validation | undefined;
  /** Resume after this event. */
  readonly lastEventId?: string | undefined;
  /** Called when events were lost because the reader was too slow or disconnected for too long. Default: a logged warning. */
  readonly onGap?: ((gap: StreamGap) => void) | undefined;
  /**
   * Called when the reader has read every event that was stored when the stream was opened, and waits for the next one. Again
   * after a reconnect. A stream that ends before does not call it.
   */
  readonly onCaughtUp?: (() => void) | undefined;
  /** Called before a reconnect. */
  readonly onReconnect?:
    ((retry: { readonly attempt: number; readonly delayMs: number; readonly error: Error }) => void) | undefined;
  /** Milliseconds without data after which the connection counts as lost. Default 30000, two heartbeats; `false` for services without a heartbeat. */
  readonly idleTimeoutMs?: number | false | undefined;
  /** Consecutive reconnects before the stream rejects. Default 5. */
  readonly maxReconnects?: number | undefined;
}
