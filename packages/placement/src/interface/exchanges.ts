/** A request of the browser, as it is recorded and found again. Its headers may contain secrets and are not part of it. */
export interface ExchangeRequest {
  readonly method: string;
  /** Absolute; `ws:` or `wss:` for WebSockets. */
  readonly url: string;
  /** The value of its `Range` header. */
  readonly range?: string | undefined;
  /** Other requests cannot get 304. */
  readonly isConditional: boolean;
}

export interface AnswerHead {
  readonly status: number;
  readonly statusText: string;
  /** Names and values in turn, without those of the connection. */
  readonly headers: readonly string[];
}

/** `broken`: by the server or the network. `open`: the browser closed it, or it was still open when the recording ended. */
export type ExchangeEnd = "complete" | "broken" | "open";

/** Keeps the requests of the browser and their answers. */
export interface ExchangeRecorder {
  begin(request: ExchangeRequest): RecordedExchange;
}

/** The calls follow each other in this order. */
export interface RecordedExchange {
  head(answer: AnswerHead): void;
  /** @param messages - number of WebSocket messages that the browser had sent before. */
  data(chunk: Uint8Array, messages: number): void;
  /** @param body - digest of the request's body. Later calls do nothing. */
  end(how: ExchangeEnd, body: string): void;
  /** Forgets the exchange, because the browser repeats the request. */
  drop(): void;
}

/** Answers requests of the browser from a recording. */
export interface ExchangePlayer {
  /** Whether requests outside of the recording go to the network. */
  readonly passes: boolean;
  /** Whether the body of the request decides about its answer. */
  knows(request: ExchangeRequest): boolean;
  /** Returns the next answer to the request, or `undefined` if the recording has none. @param body - its digest. */
  next(request: ExchangeRequest, body: string): PlayedExchange | undefined;
  /** Returns one sentence about a request that the recording does not have. */
  explain(request: ExchangeRequest): string;
}

export interface PlayedExchange {
  /** Absent: the connection broke without an answer. */
  readonly head: (AnswerHead & { readonly afterMs: number }) | undefined;
  readonly end: ExchangeEnd;
  chunks(): AsyncIterable<PlayedChunk>;
}

export interface PlayedChunk {
  readonly bytes: Uint8Array;
  /** Milliseconds since the previous chunk, or the head. */
  readonly afterMs: number;
  /** It follows this many WebSocket messages of the browser. */
  readonly messages: number;
}
