import type { FailureInfo, RequestInfo, ResponseInfo, TransportHooks } from "./surface/options.ts";

/** The required part of a span. */
export interface TelemetrySpan {
  /** Sets an attribute such as `http.request.method`. */
  setAttribute(name: string, value: string | number | boolean): unknown;
  /** Sets status code 2 when the call failed. */
  setStatus(status: { code: number; message?: string }): unknown;
  /** Called once, at the end of the attempt. */
  end(): unknown;
}

/** The required part of `@opentelemetry/api` 1.x: `import * as api from "@opentelemetry/api"`. */
export interface OpenTelemetryApi<Context = unknown, Span extends TelemetrySpan = TelemetrySpan> {
  readonly trace: {
    /** Returns a tracer. @param name - name of the instrumentation: this package. */
    getTracer(name: string): {
      /** Starts the span of one attempt. */
      startSpan(
        name: string,
        options: { kind: number; attributes: Record<string, string | number> },
        context: Context,
      ): Span;
    };
    /** With the span as the active one. */
    setSpan(context: Context, span: Span): Context;
  };
  readonly context: {
    /** Returns the context of the caller. */
    active(): Context;
  };
  readonly propagation: {
    /** Adds `traceparent` to the headers of a request. */
    inject(
      context: Context,
      carrier: Headers,
      setter: { set(carrier: Headers, name: string, value: string): void },
    ): void;
  };
}

const clientKind = 2;
const errorStatus = 2;
const setter = {
  set: (headers: Headers, name: string, value: string) => {
    headers.set(name, value);
  },
};

/** Returns the `error.type` of OpenTelemetry: a code such as `ECONNREFUSED`, otherwise the name of the error. */
function typeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return typeof error;
  const { code, name } = error as { code?: unknown; name?: unknown };
  return typeof code === "string" ? code : typeof name === "string" ? name : "error";
}

/**
 * Returns hooks that create a client span for every attempt, named after its operation (`profiles.get`), and send the trace headers.
 * This package does not depend on OpenTelemetry: pass the API of the program.
 *
 * @example
 * import * as api from "@opentelemetry/api";
 * const shoal = new Shoal({ hooks: openTelemetryHooks(api) });
 *
 * @see {@link https://opentelemetry.io/docs/specs/semconv/http/http-spans/ | OpenTelemetry, HTTP spans}
 */
export function openTelemetryHooks<Context, Span extends TelemetrySpan>(
  api: OpenTelemetryApi<Context, Span>,
): TransportHooks {
  const tracer = api.trace.getTracer("@shoal/transport");
  // All hooks of an attempt receive the same headers object.
  const spans = new WeakMap<Headers, Span>();
  const finish = ({ headers }: RequestInfo, failed: string | undefined, end: (span: Span) => void) => {
    const span = spans.get(headers);
    if (span === undefined) return;
    spans.delete(headers);
    end(span);
    if (failed !== undefined) {
      span.setAttribute("error.type", failed);
      span.setStatus({ code: errorStatus });
    }
    span.end();
  };
  return {
    onRequest({ operationId, method, url, headers, attempt }) {
      const { origin, hostname, port, protocol, pathname } = new URL(url);
      const active = api.context.active();
      const attributes = {
        "http.request.method": method,
        // Without the query, which may contain personal data.
        "url.full": origin + pathname,
        "server.address": hostname,
        "server.port": Number(port === "" ? (protocol === "https:" ? 443 : 80) : port),
        "shoal.operation": operationId,
        ...(attempt > 1 && { "http.request.resend_count": attempt - 1 }),
      };
      const span = tracer.startSpan(operationId, { kind: clientKind, attributes }, active);
      spans.set(headers, span);
      api.propagation.inject(api.trace.setSpan(active, span), headers, setter);
    },
    onResponse(info: ResponseInfo) {
      finish(info, info.status >= 400 ? String(info.status) : undefined, (span) => {
        span.setAttribute("http.response.status_code", info.status);
        const requestId = info.responseHeaders.get("x-request-id");
        if (requestId !== null) span.setAttribute("shoal.request_id", requestId);
      });
    },
    onFailure(info: FailureInfo) {
      finish(info, typeOf(info.error), () => undefined);
    },
  };
}
