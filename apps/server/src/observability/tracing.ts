import {
  type Context,
  ROOT_CONTEXT,
  defaultTextMapGetter,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapSetter,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from "node:http";
import pTimeout from "p-timeout";
import { accessOf, operationOf } from "../http/request-facts.ts";
import { redact } from "../log/log.ts";
import { requestIdOf } from "../log/request-log.ts";
import { version } from "../config/version.ts";

const spanOf = Symbol("span");
interface Traced extends IncomingMessage {
  [spanOf]?: Span;
}

const headerSetter: TextMapSetter<IncomingHttpHeaders> = {
  set(headers, name, value) {
    headers[name] = value;
  },
};
const exportTimeoutMs = 5000;

/** @param endpoint - base URL of the collector, without `/v1/traces`: `http://localhost:4318`. */
export function openTracing(endpoint: string, serverId: string): Tracing {
  const service = resourceFromAttributes({
    "service.name": "shoal",
    "service.version": version,
    "service.instance.id": serverId,
  });
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/(?<!\/)\/+$/, "")}/v1/traces`,
    timeoutMillis: exportTimeoutMs,
  });
  return new Tracing(
    new BasicTracerProvider({
      // The environment overrides the name.
      resource: defaultResource()
        .merge(service)
        .merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: 1000 })],
    }),
  );
}

/** Sends spans of requests and their slow steps to a collector. The standard `OTEL_` variables apply. */
export class Tracing {
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;
  readonly #propagator = new W3CTraceContextPropagator();
  readonly #contexts = new AsyncLocalStorage<Context>();

  constructor(provider: BasicTracerProvider) {
    this.#provider = provider;
    this.#tracer = provider.getTracer("@shoal/server", version);
  }

  /** Call it after the request listener was added. */
  follow(server: Server): void {
    server.prependListener("request", (request: Traced) => {
      this.#requestStarted(request);
    });
  }

  #requestStarted(request: Traced): void {
    const parent = this.#propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter);
    const path = request.url?.split("?", 1)[0] ?? "/";
    const attributes = { "http.request.method": request.method ?? "", "url.path": redact(path) };
    const span = this.#tracer.startSpan(request.method ?? "HTTP", { kind: SpanKind.SERVER, attributes }, parent);
    const context = trace.setSpan(parent, span);
    request[spanOf] = span;
    this.#contexts.enterWith(context);
    // Requests to instances and other servers carry these headers, requests to websites do not.
    if (!path.endsWith("/curl/raw")) this.#propagator.inject(context, request.headers, headerSetter);
  }

  requestEnded(request: Traced, response: ServerResponse): void {
    const span = request[spanOf];
    if (span === undefined) return;
    const operation = operationOf(request);
    const status = response.headersSent ? response.statusCode : 499;
    const access = accessOf(request);
    span.updateName(
      operation === "none" || operation === "other" ? `${request.method ?? "HTTP"} ${operation}` : operation,
    );
    span.setAttributes({
      "shoal.operation": operation,
      "http.response.status_code": status,
      "shoal.request_id": requestIdOf(request) ?? "",
      ...(access !== undefined && { "shoal.project_id": access.projectId, "shoal.key_id": access.key.id }),
    });
    if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  }

  async step<T>(name: string, run: () => Promise<T>): Promise<T> {
    const parent = this.#contexts.getStore() ?? ROOT_CONTEXT;
    const span = this.#tracer.startSpan(name, {}, parent);
    try {
      return await this.#contexts.run(trace.setSpan(parent, span), run);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      // Only the class: messages may contain user input.
      span.setAttribute("error.type", error instanceof Error ? error.name : typeof error);
      throw error;
    } finally {
      span.end();
    }
  }

  /** For a few seconds at most. */
  async close(): Promise<void> {
    const sent = this.#provider.shutdown().catch(() => undefined);
    await pTimeout(sent, { milliseconds: exportTimeoutMs, fallback: () => undefined });
  }
}
