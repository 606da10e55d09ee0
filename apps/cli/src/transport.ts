import { createTransport, type ItemPage, type Transport } from "@shoal/transport";
import type { Answer } from "./call.ts";
import type { CommandSpec } from "./command-table.ts";
import { type GlobalFlags, reach, type Reached } from "./connect.ts";
import { endpointOf } from "./endpoint.ts";
import type { Run } from "./program.ts";
import type { PlainAnswer } from "./send.ts";
import type { CommandRequest } from "./values.ts";
import { wireLog } from "./wire-log.ts";

type Fetch = (request: Request) => Promise<Response>;

/** A transport to the service that the flags name. @throws {ExitError} without a key. */
export function connect(flags: GlobalFlags, run: Run, isOpen = false): Transport {
  return transportTo({ ...reach(flags, run, isOpen), validate: "off" }, flags, run, (request) => fetch(request));
}

/** As {@link connect}, for endpoints that come with schemas: answers are checked. */
export function connectChecked(flags: GlobalFlags, run: Run): Transport {
  return transportTo({ ...reach(flags, run), validate: "error" }, flags, run, (request) => fetch(request));
}

function transportTo(to: Reached & { readonly validate: "error" | "off" }, flags: GlobalFlags, run: Run, send: Fetch): Transport {
  return createTransport({ ...to, fetch: flags.debug === true ? logged(wireLog(run.terminal, to.apiKey), send) : send });
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
      log.failure(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
  };
}

/** What there is for {@link callOn} to begin with. */
interface Begun {
  readonly to: Reached;
  readonly flags: GlobalFlags;
  readonly run: Run;
  /** How the first try ended; without it the transport makes one of its own. */
  readonly first: PlainAnswer | Error | undefined;
  readonly idempotencyKey: string | undefined;
}

/** Carries a call through that has not simply worked: repeats what may be repeated, and throws what is to be told. */
export async function callOn(spec: CommandSpec, request: CommandRequest, { to, flags, run, first, idempotencyKey }: Begun): Promise<Answer> {
  if (first === undefined && to.totalTimeoutMs !== undefined) {
    const { TimeoutError } = await import("@shoal/transport");
    throw new TimeoutError(
      `${spec.operationId} timed out after ${String(to.totalTimeoutMs)} ms in all: no answer came. Raise totalTimeoutMs if it needs longer.`,
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
  const result: unknown = await transportTo({ ...to, validate: "off" }, first === undefined ? flags : { ...flags, debug: false }, run, send).call(
    endpointOf(spec),
    request,
    { signal: run.signal, ...(idempotencyKey !== undefined && { idempotencyKey }) },
  );
  if (spec.result !== "page" && spec.result !== "tokenPage") return { value: result };
  const { items, nextOffset, nextPageToken } = result as ItemPage<unknown>;
  const next = nextPageToken !== undefined ? { page_token: nextPageToken } : nextOffset !== undefined ? { offset: nextOffset } : undefined;
  return { value: items, ...(next && { next }) };
}

function asResponse({ status, headers, text }: PlainAnswer): Response {
  const hasNoBody = [204, 205, 304].includes(status);
  // Of the connection, not of the answer.
  const kept = Object.entries(headers).filter(([name]) => !["content-encoding", "content-length", "transfer-encoding"].includes(name));
  return new Response(hasNoBody ? null : text, { status, headers: kept });
}
