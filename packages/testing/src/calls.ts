import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";

/** A request that the fake received. */
export interface FakeCall {
  /** The operation, `profiles.get`; `undefined` if no operation has this method and path. */
  readonly operationId: string | undefined;
  readonly method: string;
  /** The raw path, with the query. */
  readonly path: string;
  /** The path's placeholders, decoded; empty if the call was refused earlier. */
  readonly params: Readonly<Record<string, unknown>>;
  /** The checked query, with its defaults; empty if the call was refused. */
  readonly query: Readonly<Record<string, unknown>>;
  /** The checked JSON body; `undefined` for other bodies and refused calls. */
  readonly body: unknown;
  /** Lower-case names. */
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** Status of the answer; `undefined` before the answer and for cut connections. */
  readonly status: number | undefined;
}

export interface RecordedCall {
  readonly call: { -readonly [Field in keyof FakeCall]: FakeCall[Field] };
  /** Closes the connection without an answer. */
  drop(): void;
  /** Aborted when the connection closes or the answer is complete. */
  closed(): AbortSignal;
}

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
      // An own property, so that copies and comparisons include it.
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
