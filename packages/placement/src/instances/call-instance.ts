import type { BytesContent, JsonBody, JsonContent, RequestOf, ResponseContent, ResultOf } from "@shoal/contract";
import type { instanceControl, InstanceControlEndpoint } from "@shoal/instance";
import { messageOf } from "@shoal/primitives";
import { ErrorBody } from "@shoal/schemas";
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { PlacementError } from "../interface/placement-error.ts";
import type { InstanceRequest } from "../interface/placement.ts";
import { answerText } from "../streams/answer-text.ts";

export interface Requestable {
  request(init: InstanceRequest, body?: Readable | string): Promise<IncomingMessage>;
}

type RefusalData = Pick<ErrorBody, "field" | "hint" | "limit">;

const maxMessageCharacters = 2_000;
const maxProblemCharacters = 1_000;
/** Of a field, a limit and a hint. */
const maxDataCharacters = 500;

export class InstanceRefusal extends Error {
  override readonly name = "InstanceRefusal";
  readonly status: number;
  /** `internal_error` when the answer is not an error body. */
  readonly code: string;
  /** What failed, without `field` and `hint`; the message ends with `hint`. */
  readonly problem: string;
  readonly field: string | undefined;
  readonly limit: number | string | undefined;
  readonly hint: string | undefined;

  constructor(status: number, code: string, problem: string, { field, hint, limit }: RefusalData = {}) {
    super(hint === undefined ? problem : `${problem} ${hint}`);
    this.status = status;
    this.code = code;
    this.problem = problem;
    this.field = field;
    this.limit = limit;
    this.hint = hint;
  }
}

/** Of large answers, on average: their strings are longer. */
const minValueBytes = 8;

/** {@link assignInstance} calls the other one. */
type CallableEndpoint = Exclude<InstanceControlEndpoint, typeof instanceControl.assignWithFiles>;
type ValueEndpoint = Extract<CallableEndpoint, { responses: Record<number, { kind: "json" | "empty" }> }>;
type StreamEndpoint = Exclude<CallableEndpoint, ValueEndpoint>;

type WithReadableBody<Request, E> = E extends { readonly body: BytesContent }
  ? Omit<Request, "body"> & { readonly body: Readable }
  : Request;
type CallOf<E extends CallableEndpoint> = WithReadableBody<RequestOf<E>, E> & { readonly signal?: AbortSignal };

/** Checks the answer, of at most 64 KiB or the endpoint's limit: instances are not trusted. @throws {InstanceRefusal | PlacementError} */
export async function callInstance<E extends ValueEndpoint>(
  instance: Requestable,
  endpoint: E,
  call: CallOf<E>,
): Promise<ResultOf<E>> {
  return checkAnswer(await send(instance, endpoint, call), endpoint) as Promise<ResultOf<E>>;
}

/** Like {@link callInstance}, without parsing the answer: for another thread. @throws {InstanceRefusal | PlacementError} */
export async function textOfInstance<E extends ValueEndpoint>(
  instance: Requestable,
  endpoint: E,
  call: CallOf<E>,
): Promise<string> {
  return (await boundedAnswer(await send(instance, endpoint, call), endpoint)).text;
}

interface Answering {
  readonly responses: Readonly<Partial<Record<number, ResponseContent>>>;
}

export async function checkAnswer(answer: IncomingMessage, endpoint: Answering): Promise<unknown> {
  const { content, text } = await boundedAnswer(answer, endpoint);
  return content.kind === "json" ? parseAnswer(content, text) : undefined;
}

async function boundedAnswer(answer: IncomingMessage, { responses }: Answering) {
  const status = answer.statusCode ?? 0;
  const content = responses[status];
  const limitBytes = content?.kind === "json" ? (content as JsonBody).limitBytes : undefined;
  const limits = limitBytes === undefined ? {} : { bytes: limitBytes, values: limitBytes / minValueBytes };
  const text = await answerText(answer, limits).catch((cause: unknown) => {
    throw new PlacementError("instance_lost", `The answer of an instance broke off: ${messageOf(cause)}`, { cause });
  });
  if (content === undefined) throw refusalOf(status, text);
  return { content, text };
}

/** The caller limits the stream, and reads or destroys it. @throws {InstanceRefusal | PlacementError} */
export async function streamFromInstance<E extends StreamEndpoint>(
  instance: Requestable,
  endpoint: E,
  call: CallOf<E>,
): Promise<IncomingMessage> {
  const answer = await send(instance, endpoint, call);
  const status = answer.statusCode ?? 0;
  if (status in endpoint.responses) return answer;
  throw refusalOf(status, await answerText(answer).catch(() => ""));
}

interface AnyCall {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

function send(instance: Requestable, endpoint: CallableEndpoint, call: AnyCall): Promise<IncomingMessage> {
  const { params = {}, query, body, signal } = call;
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = query && new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  const contentType = "body" in endpoint ? contentTypeOf(endpoint.body) : undefined;
  const init: InstanceRequest = {
    method: endpoint.method,
    path: search === undefined ? path : `${path}?${search.toString()}`,
    ...(contentType !== undefined && { headers: { "content-type": contentType } }),
    ...(signal && { signal }),
  };
  if (body === undefined) return instance.request(init);
  return instance.request(init, contentType === "application/json" ? JSON.stringify(body) : (body as Readable));
}

function contentTypeOf(
  body: { readonly kind: "json" } | { readonly kind: "bytes"; readonly contentType: string },
): string {
  return body.kind === "json" ? "application/json" : body.contentType;
}

function parseAnswer({ schema }: JsonContent, text: string): unknown {
  const result = schema.safeParse(parseJson(text));
  if (!result.success) throw new InstanceRefusal(500, "internal_error", "The instance sent an invalid answer.");
  return result.data;
}

function refusalOf(status: number, text: string): InstanceRefusal {
  const refusal = readErrorBody(text);
  if (refusal === undefined)
    return new InstanceRefusal(
      status,
      "internal_error",
      `The instance answered ${String(status)}: ${text.slice(0, 500)}`,
    );
  const { code, field, hint, limit, message } = refusal;
  const start = `${field ?? ""}: `;
  const problem = message.startsWith(start) ? message.slice(start.length) : message;
  const isHinted = hint !== undefined && problem.endsWith(` ${hint}`);
  const what = isHinted ? problem.slice(0, -hint.length - 1) : problem;
  return new InstanceRefusal(status, code, what.slice(0, maxProblemCharacters), {
    ...(field !== undefined && { field: field.slice(0, maxDataCharacters) }),
    ...(limit !== undefined && { limit: typeof limit === "string" ? limit.slice(0, maxDataCharacters) : limit }),
    ...(isHinted && { hint: hint.slice(0, maxDataCharacters) }),
  });
}

/** Returns the error in an answer, in the bounds of answers to clients; `undefined` for other texts. */
export function errorBodyOf(text: string): ErrorBody | undefined {
  const body = readErrorBody(text);
  if (body === undefined) return undefined;
  const { field, hint, limit, message } = body;
  return {
    ...body,
    message: message.slice(0, maxMessageCharacters),
    ...(field !== undefined && { field: field.slice(0, maxDataCharacters) }),
    ...(limit !== undefined && { limit: typeof limit === "string" ? limit.slice(0, maxDataCharacters) : limit }),
    ...(hint !== undefined && { hint: hint.slice(0, maxDataCharacters) }),
  };
}

function readErrorBody(text: string): ErrorBody | undefined {
  const body = ErrorBody.safeParse(parseJson(text));
  return body.success && /^[a-z_]{1,64}$/.test(body.data.code) ? body.data : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
