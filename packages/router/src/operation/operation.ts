import type { BytesContent, Endpoint, JsonBody, MultipartBody } from "@shoal/contract";
import type { IncomingMessage } from "node:http";
import type { AnyHandler, Handler } from "../handler/handler.ts";
import { defaultHeartbeatMs } from "../reply/event-reply.ts";
import type { Reply } from "../reply/reply.ts";
import { ClientGone, GuardedStream } from "../request/guarded-stream.ts";
import { IgnoredFields } from "../request/ignored-fields.ts";
import { invalidRequest } from "../request/issues.ts";
import { createLargeBodies, defaultBodyLimitBytes, readJson, refuseEncoding } from "../request/json-body.ts";
import { MultipartParts } from "../request/multipart/multipart-parts.ts";
import { callOf, type Exchange } from "./exchange.ts";
import { repeatable, type IdempotencyStore } from "./idempotency.ts";
import { Replies } from "./replies.ts";
import { RequestChecks, type Findings } from "./request-checks.ts";

/** Options of both adapters. */
export interface OperationOptions<Context = never> {
  /**
   * Bytes of a JSON body, unless its endpoint sets a limit, and of all text fields of a multipart body. Default 1 MiB.
   */
  readonly bodyLimitBytes?: number;
  /** Milliseconds between two comments on an event stream; default 15,000. */
  readonly heartbeatMs?: number;
  /**
   * For undeclared body fields and query parameters: `ignore` (default) drops them and lists them in the header
   * `X-Shoal-Ignored-Fields`; `refuse` answers 400.
   */
  readonly unknownFields?: UnknownFields;
  /** Answers repeated calls. Without it, an `Idempotency-Key` has no effect. */
  readonly idempotency?: IdempotencyStore<Context>;
}

/** See {@link OperationOptions.unknownFields}. */
export type UnknownFields = "ignore" | "refuse";

/** Joins an endpoint and its handler. */
export class Operation<Context> {
  readonly endpoint: Endpoint;
  /** Whether GET can answer HEAD, without the body. */
  readonly takesHead: boolean;
  readonly #handler: AnyHandler<Context>;
  readonly #replies: Replies;
  readonly #unknownFields: UnknownFields | undefined;
  readonly #bodyLimitBytes: number;
  readonly #largeBodies: ReturnType<typeof createLargeBodies>;
  readonly #fixedParams: readonly string[];
  #checks: RequestChecks | undefined;

  /**
   * @param fixedParams - names of placeholders in the stripped prefix; not validated.
   * @throws {TypeError} if the endpoint declares no response.
   */
  constructor(
    endpoint: Endpoint,
    handler: AnyHandler<Context>,
    options: OperationOptions<Context> = {},
    fixedParams: readonly string[] = [],
  ) {
    const { bodyLimitBytes = defaultBodyLimitBytes, heartbeatMs = defaultHeartbeatMs, idempotency } = options;
    this.endpoint = endpoint;
    this.#handler =
      idempotency === undefined
        ? handler
        : (repeatable(endpoint, handler as Handler<Endpoint, Context>, idempotency) as AnyHandler<Context>);
    this.#replies = new Replies(endpoint, heartbeatMs);
    this.takesHead = endpoint.method === "GET" && !this.#replies.streamsEvents;
    this.#unknownFields = options.unknownFields;
    this.#bodyLimitBytes = bodyLimitBytes;
    this.#largeBodies = createLargeBodies(bodyLimitBytes);
    this.#fixedParams = fixedParams;
  }

  /** Never writes to the response. @throws {ServiceError} and every error of the handler. */
  async answer(exchange: Exchange<Context>): Promise<Reply> {
    // Made on the first request to keep startup short.
    const checks = (this.#checks ??= new RequestChecks(this.endpoint, this.#fixedParams));
    const refuses = (exchange.unknownFields ?? this.#unknownFields) === "refuse";
    const findings: Findings = { problems: [], ignored: refuses ? undefined : new IgnoredFields() };
    const params = checks.params(exchange, findings);
    const query = checks.query(exchange.queryString, findings);
    reportIgnored(exchange, findings);
    const inputs = { exchange, findings, params, query };
    const { body } = this.endpoint;
    if (body === undefined) return this.#run(inputs, undefined);
    return body.kind === "json" ? this.#answerJson(inputs, body, checks) : this.#answerStream(inputs, body);
  }

  async #answerJson(
    inputs: Inputs<Context>,
    { limitBytes, optional }: JsonBody,
    checks: RequestChecks,
  ): Promise<Reply> {
    const { exchange, findings } = inputs;
    const maxBytes = limitBytes ?? this.#bodyLimitBytes;
    const place = maxBytes > this.#bodyLimitBytes ? this.#largeBodies.place() : undefined;
    try {
      const value = await readJson(exchange.request, { optional, limitBytes: maxBytes, place });
      const body = checks.body(value, findings);
      reportIgnored(exchange, findings);
      return await this.#run(inputs, body);
    } finally {
      place?.leave();
    }
  }

  async #answerStream(inputs: Inputs<Context>, declared: BytesContent | MultipartBody): Promise<Reply> {
    const { exchange, findings } = inputs;
    if (findings.problems.length > 0) throw invalidRequest(findings.problems);
    const stream =
      declared.kind === "multipart"
        ? new MultipartParts(exchange.request, this.#bodyLimitBytes, declared.schema)
        : bodyStream(exchange.request);
    let reply: Reply | undefined;
    try {
      reply = await this.#run(inputs, stream);
      return reply;
    } finally {
      reportIgnored(exchange, findings);
      // A streamed answer may still read the body.
      if (reply === undefined || reply.kind === "text") discard(stream);
      else
        exchange.response.on("close", () => {
          discard(stream);
        });
    }
  }

  async #run({ exchange, findings, params, query }: Inputs<Context>, body: unknown): Promise<Reply> {
    if (findings.problems.length > 0) throw invalidRequest(findings.problems);
    return this.#replies.of(await this.#handler(callOf(exchange, params, query, body)), query, exchange);
  }
}

interface Inputs<Context> {
  readonly exchange: Exchange<Context>;
  readonly findings: Findings;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
}

function bodyStream(request: IncomingMessage): GuardedStream {
  refuseEncoding(request);
  return new GuardedStream(request, () => new ClientGone());
}

function discard(body: GuardedStream | MultipartParts): void {
  if (body instanceof GuardedStream) body.destroy();
  else body.cancel();
}

function reportIgnored(exchange: Pick<Exchange<unknown>, "onIgnored">, { ignored }: Findings): void {
  const fields = ignored?.toHeader();
  if (fields !== undefined) exchange.onIgnored(fields);
}
