import { errorOf } from "@shoal/primitives";
import { createTransport, type ItemPage, type Transport } from "@shoal/transport";
import { ExitError } from "../core/errors.ts";
import type { Answer, CommandRequest, CommandSpec, GlobalFlags, Run } from "../core/types.ts";
import { reach, type Reached } from "./reach.ts";
import { defaultBaseUrl, findConnection } from "./settings.ts";
import { endpointOf } from "./endpoint.ts";
import type { PlainAnswer } from "./send.ts";
import { wireLog } from "./wire-log.ts";

type Fetch = (request: Request) => Promise<Response>;

/** @throws {ExitError} without a key. */
export function connect(flags: GlobalFlags, run: Run, isOpen = false): Transport {
  return transportTo({ ...reach(flags, run, isOpen), validate: "off" }, flags, run, (request) => fetch(request));
}

/** Validates responses; for endpoints with schemas. @throws {ExitError} without a key. */
export function connectChecked(flags: GlobalFlags, run: Run): Transport {
  return transportTo({ ...reach(flags, run), validate: "error" }, flags, run, (request) => fetch(request));
}

/**
 * As {@link connectChecked}, but looks for the service with each request. Without one, calls fail with an `ApiError` that has
 * the text of the {@link ExitError}.
 */
export function connectLater(find: () => Promise<Reached> | Reached, flags: GlobalFlags, run: Run): Transport {
  const expected = findConnection(flags, run.env);
  const baseUrl =
    "problem" in expected && expected.problem !== "key" ? defaultBaseUrl : expected.baseUrl.replace(/(?<!\/)\/+$/, "");
  const transport = transportTo({ baseUrl, validate: "error" }, flags, run, async (request) => {
    let to: Reached;
    try {
      to = await find();
    } catch (error) {
      if (!(error instanceof ExitError)) throw error;
      const { hint, message } = error;
      return Response.json({ code: "unauthorized", message, ...(hint !== undefined && { hint }) }, { status: 401 });
    }
    // The transport's own form of the URL, for example without a default port.
    const sent = new Request(to.baseUrl + request.url.slice(transport.baseUrl.length), request);
    if (to.apiKey !== undefined) sent.headers.set("authorization", `Bearer ${to.apiKey}`);
    if (to.project !== undefined) sent.headers.set("x-shoal-project", to.project);
    return fetch(sent);
  });
  return transport;
}

function transportTo(
  to: Reached & { readonly validate: "error" | "off" },
  flags: GlobalFlags,
  run: Run,
  send: Fetch,
): Transport {
  return createTransport({
    ...to,
    fetch: flags.debug === true ? logged(wireLog(run.terminal, to.apiKey), send) : send,
  });
}

function logged(log: ReturnType<typeof wireLog>, send: Fetch): Fetch {
  return async (request) => {
    const { method, url } = request;
    log.request({ method, url, headers: Object.fromEntries(request.headers) });
    try {
      const response = await send(request);
      log.answer({ status: response.status, headers: Object.fromEntries(response.headers) });
      return response;
    } catch (error) {
      log.failure(errorOf(error));
      throw error;
    }
  };
}

interface Begun {
  readonly to: Reached;
  readonly flags: GlobalFlags;
  readonly run: Run;
  /** `undefined` makes the transport send the request. */
  readonly first: PlainAnswer | Error | undefined;
  readonly idempotencyKey: string | undefined;
  /** Of each attempt. */
  readonly timeoutMs: number;
}

/** Retries a call whose first attempt failed, or throws its error. */
export async function callOn(
  spec: CommandSpec,
  request: CommandRequest,
  { to, flags, run, first, idempotencyKey, timeoutMs }: Begun,
): Promise<Answer> {
  if (first === undefined && to.totalTimeoutMs !== undefined) {
    const { TimeoutError } = await import("@shoal/transport");
    throw new TimeoutError(
      `${spec.operationId} timed out after ${String(to.totalTimeoutMs)} ms without a response. Raise totalTimeoutMs if it needs longer.`,
      to.totalTimeoutMs,
    );
  }
  let begun = first;
  const send: Fetch = (sent) => {
    const answer = begun;
    begun = undefined;
    if (answer === undefined) return fetch(sent);
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(asResponse(answer));
  };
  const result: unknown = await transportTo(
    { ...to, validate: "off" },
    first === undefined ? flags : { ...flags, debug: false },
    run,
    send,
  ).call(endpointOf(spec), request, {
    signal: run.signal,
    timeoutMs,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  });
  if (spec.result !== "page" && spec.result !== "tokenPage") return { value: result };
  const { items, nextOffset, nextPageToken } = result as ItemPage<unknown>;
  const next =
    nextPageToken !== undefined
      ? { page_token: nextPageToken }
      : nextOffset !== undefined
        ? { offset: nextOffset }
        : undefined;
  return { value: items, ...(next && { next }) };
}

function asResponse({ status, headers, text }: PlainAnswer): Response {
  const hasNoBody = [204, 205, 304].includes(status);
  // Omit headers that describe the connection.
  const kept = Object.entries(headers).filter(
    ([name]) => !["content-encoding", "content-length", "transfer-encoding"].includes(name),
  );
  return new Response(hasNoBody ? null : text, { status, headers: kept });
}
