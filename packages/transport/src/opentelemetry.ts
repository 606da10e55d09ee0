import type { FailureInfo, RequestInfo, ResponseInfo, TransportHooks } from "./options.ts";

/** The part of a span that is used. */
export interface TelemetrySpan {
  /** Sets `http.request.method` and the like. */
  setAttribute(name: string, value: string | number | boolean): unknown;
  /** Marks a call that failed: code 2. */
  setStatus(status: { code: number; message?: string }): unknown;
  /** Called once, when the call is over. */
  end(): unknown;
}

/** The part of `@opentelemetry/api` (1.x) that is used: `import * as api from "@opentelemetry/api"` is one. */
export interface OpenTelemetryApi<Context = unknown, Span extends TelemetrySpan = TelemetrySpan> {
  readonly trace: {
    /** Makes spans. @param name - of the instrumentation: this package's. */
    getTracer(name: string): {
      /** Begins the span of one try. */
      startSpan(name: string, options: { kind: number; attributes: Record<string, string | number> }, context: Context): Span;
    };
    /** The context in which the span is the present one. */
    setSpan(context: Context, span: Span): Context;
  };
  readonly context: {
    /** The context in which the call was made. */
    active(): Context;
  };
  readonly propagation: {
    /** Writes `traceparent` into a request's headers. */
    inject(context: Context, carrier: Headers, setter: { set(carrier: Headers, name: string, value: string): void }): void;
  };
}

const clientKind = 2;
const errorStatus = 2;
const setter = {
  set: (headers: Headers, name: string, value: string) => {
    headers.set(name, value);
  },
};

/** `ECONNREFUSED` and the like stand below an error's own name in what OpenTelemetry calls a type. */
function typeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return typeof error;
  const { code, name } = error as { code?: unknown; name?: unknown };
  return typeof code === "string" ? code : typeof name === "string" ? name : "error";
}

/**
 * Hooks that make a client span of every try, named after its operation (`profiles.get`), and send the trace's headers along.
 * This package does not depend on OpenTelemetry: give it the api that the program uses.
 *
 * @example
 * import * as api from "@opentelemetry/api";
 * const shoal = new Shoal({ hooks: openTelemetryHooks(api) });
 *
 * @see {@link https://opentelemetry.io/docs/specs/semconv/http/http-spans/ | OpenTelemetry, HTTP spans}
 */
export function openTelemetryHooks<Context, Span extends TelemetrySpan>(api: OpenTelemetryApi<Context, Span>): TransportHooks {
  const tracer = api.trace.getTracer("@shoal/transport");
  // All hooks of a try see the same headers.
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
        // Without the query, which may hold what people typed.
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
