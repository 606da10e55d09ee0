import { type Context, ROOT_CONTEXT, defaultTextMapGetter, type Span, SpanKind, SpanStatusCode, type TextMapSetter, trace } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from "node:http";
import { accessOf, operationOf } from "../observation/request-facts.ts";
import { requestIdOf } from "../request-log.ts";
import { version } from "../version.ts";

/** Spans of requests and of what they take long for, sent to a collector. Sampling and the rest follow the usual `OTEL_` variables. */
export interface Tracing {
  /** Follows the requests of a server. Must be called after whoever answers them listens. */
  follow(server: Server): void;
  requestEnded(request: IncomingMessage, response: ServerResponse): void;
  /** Goes round one step of the request that is being answered. */
  step<T>(name: string, run: () => Promise<T>): Promise<T>;
  /** Sends what is left, for at most some seconds. */
  close(): Promise<void>;
}

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

/** @param endpoint - of a collector, without `/v1/traces`: `http://localhost:4318`. */
export function openTracing(endpoint: string, serverId: string): Tracing {
  const service = resourceFromAttributes({ "service.name": "shoal", "service.version": version, "service.instance.id": serverId });
  const provider = new BasicTracerProvider({
    // The environment has the last word on the name.
    resource: defaultResource()
      .merge(service)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [
      new BatchSpanProcessor(new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, "")}/v1/traces`, timeoutMillis: exportTimeoutMs }), {
        scheduledDelayMillis: 1000,
      }),
    ],
  });
  const tracer = provider.getTracer("@shoal/server", version);
  const propagator = new W3CTraceContextPropagator();
  const contexts = new AsyncLocalStorage<Context>();

  function requestStarted(request: Traced): void {
    const parent = propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter);
    const path = request.url?.split("?", 1)[0] ?? "/";
    const span = tracer.startSpan(
      request.method ?? "HTTP",
      { kind: SpanKind.SERVER, attributes: { "http.request.method": request.method ?? "", "url.path": withoutTokens(path) } },
      parent,
    );
    const context = trace.setSpan(parent, span);
    request[spanOf] = span;
    contexts.enterWith(context);
    // What is sent on to an instance, or to another server, goes with these; not to sites that the browser asks on somebody's behalf.
    if (!path.endsWith("/curl/raw")) propagator.inject(context, request.headers, headerSetter);
  }

  return {
    follow(server) {
      server.prependListener("request", requestStarted);
    },
    requestEnded(request: Traced, response) {
      const span = request[spanOf];
      if (span === undefined) return;
      const operation = operationOf(request);
      const status = response.headersSent ? response.statusCode : 499;
      const access = accessOf(request);
      span.updateName(operation === "none" || operation === "other" ? `${request.method ?? "HTTP"} ${operation}` : operation);
      span.setAttributes({
        "shoal.operation": operation,
        "http.response.status_code": status,
        "shoal.request_id": requestIdOf(request) ?? "",
        ...(access !== undefined && { "shoal.project_id": access.projectId, "shoal.key_id": access.key.id }),
      });
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
    async step(name, run) {
      const parent = contexts.getStore() ?? ROOT_CONTEXT;
      const span = tracer.startSpan(name, {}, parent);
      try {
        return await contexts.run(trace.setSpan(parent, span), run);
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        // Only its class: messages may say what people typed.
        span.setAttribute("error.type", error instanceof Error ? error.name : typeof error);
        throw error;
      } finally {
        span.end();
      }
    },
    async close() {
      await Promise.race([provider.shutdown().catch(() => undefined), new Promise((resolve) => setTimeout(resolve, exportTimeoutMs).unref())]);
    },
  };
}

/** Addresses of live views and recordings hold their token in the path. */
function withoutTokens(path: string): string {
  return path.replace(/(\/browser\/(?:live|replay)\/)[^/]+/, "$1***");
}
