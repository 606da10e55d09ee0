import type { BytesContent, BytesInput, Endpoint, MultipartBody, ResponseContent } from "@shoal/contract/endpoint";
import type { Gate } from "./gate.ts";
import type { CallOptions, TransportHooks, TransportOptions } from "../surface/options.ts";
import { requestUrl } from "./url.ts";
import type { Upload } from "./upload.ts";

/** Checked options of a transport. */
export interface Settings extends TransportOptions {
  readonly baseUrl: string;
  readonly hooks: TransportHooks | undefined;
  readonly gate: Gate;
  /** Replaces the key and other secrets in a text. */
  redact(text: string): string;
}

export interface AnyRequest {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

/** Limits of a call over all attempts. */
export interface CallBounds {
  /** `profiles.get` */
  readonly operation: string;
  readonly signal: AbortSignal | undefined;
  readonly totalTimeoutMs: number | undefined;
  /** `performance.now()` at the start of the call. */
  readonly startedAt: number;
}

/** A prepared request, which can be sent repeatedly. */
export interface Plan {
  readonly endpoint: Endpoint;
  readonly url: string;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Upload | undefined;
  readonly bounds: CallBounds;
  readonly timeoutMs: number;
  /** Attempts after the first one. */
  readonly maxRetries: number;
  readonly options: CallOptions;
}

const defaultTimeoutMs = 60_000;
const defaultMaxRetries = 2;

function setHeader(headers: Record<string, string>, name: string, value: string): void {
  // The message of the runtime would contain the value, which may be a secret.
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
    throw new TypeError(
      `The header ${JSON.stringify(name)} contains characters that HTTP does not allow (often a newline).`,
    );
  }
  headers[name.toLowerCase()] = value;
}

/** Loaded on demand, because few programs upload. */
async function uploadFor(content: BytesContent | MultipartBody, body: unknown): Promise<Upload> {
  switch (content.kind) {
    case "bytes": {
      const { sourceOf, uploadOf } = await import("./upload.ts");
      return uploadOf(content.contentType, [sourceOf(body as BytesInput)]);
    }
    case "multipart": {
      const { multipartUpload } = await import("./multipart.ts");
      return multipartUpload(content.schema, body);
    }
  }
}

/** Returns a promise only for uploads, because an `await` costs every call. */
function bodyOf({ body: content }: Endpoint, body: unknown): string | undefined | Promise<Upload> {
  if (content === undefined) return undefined;
  return content.kind === "json" ? JSON.stringify(body ?? {}) : uploadFor(content, body);
}

const accepted: Record<Exclude<ResponseContent["kind"], "bytes">, string> = {
  json: "application/json",
  page: "application/json",
  tokenPage: "application/json",
  events: "text/event-stream",
  empty: "*/*",
};

/** Returns the content declared for the status, or the first declared content that is not empty. */
export function contentOf(endpoint: Endpoint, status?: number): ResponseContent {
  const declared = status === undefined ? undefined : endpoint.responses[status];
  if (declared !== undefined) return declared;
  const all = Object.values(endpoint.responses);
  const content = all.find(({ kind }) => kind !== "empty") ?? all[0];
  if (content === undefined) throw new TypeError(`${endpoint.operationId} declares no response.`);
  return content;
}

/** @throws {TypeError} for invalid headers and parameters. */
export async function planOf(
  settings: Settings,
  endpoint: Endpoint,
  request: AnyRequest,
  options: CallOptions,
): Promise<Plan> {
  const content = contentOf(endpoint);
  const headers: Record<string, string> = {
    accept: content.kind === "bytes" ? content.contentType : accepted[content.kind],
  };
  const given = bodyOf(endpoint, request.body);
  const body = typeof given === "object" ? await given : given;
  if (body !== undefined) headers["content-type"] = typeof body === "string" ? "application/json" : body.contentType;
  if (settings.project !== undefined) setHeader(headers, "x-shoal-project", settings.project);
  for (const name in settings.headers) setHeader(headers, name, settings.headers[name] ?? "");
  for (const name in options.headers) setHeader(headers, name, options.headers[name] ?? "");
  if (endpoint.method === "POST" && options.idempotencyKey !== false)
    setHeader(headers, "idempotency-key", options.idempotencyKey ?? crypto.randomUUID());
  const repeatable =
    (endpoint.method !== "POST" || options.idempotencyKey !== false) && (typeof body !== "object" || body.repeatable);
  return {
    endpoint,
    url: requestUrl(settings.baseUrl, endpoint, request),
    headers,
    body,
    bounds: {
      operation: endpoint.operationId,
      signal: options.signal,
      totalTimeoutMs: options.totalTimeoutMs ?? settings.totalTimeoutMs,
      startedAt: performance.now(),
    },
    timeoutMs: options.timeoutMs ?? settings.timeoutMs ?? defaultTimeoutMs,
    maxRetries: repeatable ? (options.maxRetries ?? settings.maxRetries ?? defaultMaxRetries) : 0,
    options,
  };
}
