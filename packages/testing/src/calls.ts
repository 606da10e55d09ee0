import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";

/** A request that the fake has got. */
export interface FakeCall {
  /** The operation, `profiles.get`; `undefined` where no operation has this method and path. */
  readonly operationId: string | undefined;
  readonly method: string;
  /** As it was sent, with what follows the `?`. */
  readonly path: string;
  /** The path's placeholders, decoded; empty when the call was refused before they were read. */
  readonly params: Readonly<Record<string, unknown>>;
  /** The checked query, with its defaults; empty when the call was refused. */
  readonly query: Readonly<Record<string, unknown>>;
  /** The checked JSON body; `undefined` for other bodies, and when the call was refused. */
  readonly body: unknown;
  /** Names in lower case. */
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** Status of the answer; `undefined` while there is none, and when the connection was cut before. */
  readonly status: number | undefined;
}

/** A call while it is answered. */
export interface RecordedCall {
  readonly call: { -readonly [Field in keyof FakeCall]: FakeCall[Field] };
  /** Closes the connection without an answer. */
  drop(): void;
  /** Aborted when the connection closes, or the answer is complete. */
  closed(): AbortSignal;
}

/** Begins the record of a request. */
export function recordCall(request: IncomingMessage, response: ServerResponse): RecordedCall {
  let answered: number | undefined;
  let open: ServerResponse | undefined = response;
  const statusOf = () => (open?.headersSent === true ? open.statusCode : answered);
  response.on("close", () => {
    answered = statusOf();
    open = undefined;
  });
  return {
    call: {
      operationId: undefined,
      method: request.method ?? "GET",
      path: request.url ?? "/",
      params: {},
      query: {},
      body: undefined,
      headers: { ...request.headers },
      // A property of its own, so that copies and comparisons see it.
      get status() {
        return statusOf();
      },
    },
    drop() {
      open?.destroy();
    },
    closed() {
      const controller = new AbortController();
      if (open === undefined) controller.abort();
      else
        response.on("close", () => {
          controller.abort();
        });
      return controller.signal;
    },
  };
}
