import type { IncomingMessage, ServerResponse } from "node:http";
import type { AnyCall } from "../handler/handler.ts";
import { ClientGone } from "../request/guarded-stream.ts";

export interface Exchange<Context> {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Placeholders of the path, decoded. */
  readonly params: Readonly<Record<string, string | undefined>>;
  /** Values of placeholders in the stripped prefix; not validated. */
  readonly fixedParams: Readonly<Record<string, string>> | undefined;
  /** The raw query, without `?`. */
  readonly queryString: string;
  readonly context: Context;
  /** `refuse` overrides the operation's setting for this request. */
  readonly unknownFields?: "ignore" | "refuse" | undefined;
  /** Reports ignored fields, as the header's value. Called before the answer is known, also for refused requests. */
  onIgnored(fields: string): void;
}

const responseOf = Symbol("response");

/**
 * Created on first access: most handlers never use it, and a controller with its listener costs more than the checks. A
 * getter shared by all calls keeps one hidden class.
 */
const lazySignal: PropertyDescriptor & ThisType<{ readonly [responseOf]: ServerResponse }> = {
  configurable: true,
  enumerable: true,
  get() {
    const value = signalOf(this[responseOf]);
    Object.defineProperty(this, "signal", { configurable: true, enumerable: true, value });
    return value;
  },
};

export function callOf<Context>(
  exchange: Exchange<Context>,
  params: Readonly<Record<string, unknown>>,
  query: Readonly<Record<string, unknown>>,
  body: unknown,
): AnyCall<Context> {
  const { context, request, requestId, response } = exchange;
  const { headers } = request;
  const lastEventId = headers["last-event-id"];
  const call = {
    params,
    query,
    body,
    headers,
    requestId,
    context,
    lastEventId: typeof lastEventId === "string" && lastEventId !== "" ? lastEventId : undefined,
    [responseOf]: response,
  };
  // `defineProperty` does not add the property to the type.
  return Object.defineProperty(call, "signal", lazySignal) as typeof call & { readonly signal: AbortSignal };
}

function signalOf(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (response.destroyed && !response.writableFinished) controller.abort(new ClientGone());
  else {
    response.on("close", () => {
      if (!response.writableFinished) controller.abort(new ClientGone());
    });
  }
  return controller.signal;
}
