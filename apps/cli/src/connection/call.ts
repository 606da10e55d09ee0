import { errorOf } from "@shoal/primitives";
import { requestUrl } from "@shoal/transport";
import type { Answer, CommandRequest, CommandSpec, GlobalFlags, Run } from "../core/types.ts";
import { printable } from "../output/format.ts";
import { notify } from "../output/output.ts";
import { reach, type Reached } from "./reach.ts";
import { endpointOf } from "./endpoint.ts";
import { requestLimitMs } from "./request-limit.ts";
import { type PlainAnswer, type PlainRequest, sendPlain, SendTimeout } from "./send.ts";

const ignoredFieldsHeader = "x-shoal-ignored-fields";

export function plainRequest(spec: CommandSpec, request: CommandRequest, to: Reached): PlainRequest {
  const headers: Record<string, string> = { accept: spec.result === "empty" ? "*/*" : "application/json" };
  const body = spec.body === "json" ? JSON.stringify(request.body ?? {}) : undefined;
  if (body !== undefined) headers["content-type"] = "application/json";
  if (to.project !== undefined) headers["x-shoal-project"] = to.project;
  if (spec.method === "POST") headers["idempotency-key"] = crypto.randomUUID();
  if (to.apiKey !== undefined && spec.open !== true) headers.authorization = `Bearer ${to.apiKey}`;
  return {
    method: spec.method,
    url: requestUrl(to.baseUrl, endpointOf(spec), request),
    headers,
    ...(body !== undefined && { body }),
  };
}

/** Calls an operation whose result is one JSON value, a page, or empty. */
export async function call(spec: CommandSpec, request: CommandRequest, flags: GlobalFlags, run: Run): Promise<Answer> {
  const to = reach(flags, run, spec.open);
  const plain = plainRequest(spec, request, to);
  const wire = flags.debug === true ? (await import("./wire-log.ts")).wireLog(run.terminal, to.apiKey) : undefined;
  wire?.request(plain);
  const timeoutMs = requestLimitMs(spec.operationId, request);
  let first: PlainAnswer | Error;
  try {
    first = await sendPlain(plain, { signal: run.signal, timeoutMs: to.totalTimeoutMs ?? timeoutMs });
    wire?.answer(first);
    warnOfIgnoredFields(first.headers[ignoredFieldsHeader], flags, run);
    const answer = readAnswer(spec, first, request);
    if (answer !== undefined) return answer;
  } catch (error) {
    first = errorOf(error);
    wire?.failure(first);
  }
  // The transport handles retries and errors. It starts with the first response.
  const { callOn } = await import("./transport.ts");
  return callOn(spec, request, {
    to,
    flags,
    run,
    first: first instanceof SendTimeout ? undefined : first,
    idempotencyKey: plain.headers["idempotency-key"],
    timeoutMs,
  });
}

function warnOfIgnoredFields(fields: string | undefined, flags: GlobalFlags, { terminal }: Run): void {
  if (fields !== undefined) notify(terminal, flags, `The service ignored unknown fields: ${printable(fields)}`);
}

/** @returns `undefined` for anything except a complete, successful response. */
function readAnswer(
  spec: CommandSpec,
  { status, headers, text }: PlainAnswer,
  request: CommandRequest,
): Answer | undefined {
  if (status < 200 || status > 299) return undefined;
  const kind = spec.responses[String(status)] ?? spec.result;
  if (kind === "empty") return { value: undefined };
  if (!/^application\/([\w.+-]+\+)?json\b/.test(headers["content-type"] ?? "")) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (kind === "json") return { value };
  if (!Array.isArray(value)) return undefined;
  const hasMore = headers["x-has-more"] === "true";
  if (!hasMore) return "x-has-more" in headers ? { value } : undefined;
  const token = headers["x-next-page-token"] ?? "";
  const offset = Number(headers["x-next-offset"] ?? "");
  if (kind === "tokenPage")
    return token === "" || token === request.query.page_token ? undefined : { value, next: { page_token: token } };
  return offset > Number(request.query.offset ?? 0) ? { value, next: { offset } } : undefined;
}
