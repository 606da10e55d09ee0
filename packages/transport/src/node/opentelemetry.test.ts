import * as api from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { getProfile, listProfiles } from "@shoal/contract";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTransport } from "../index.ts";
import { openTelemetryHooks } from "../opentelemetry.ts";
import { failureOf, profile, reply, serve } from "./testing/misbehaving-server.ts";

const apiKey = "sk_secret_0123456789";
const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });

beforeAll(() => {
  api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  api.propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  api.trace.setGlobalTracerProvider(provider);
});
beforeEach(() => {
  exporter.reset();
});
afterAll(async () => {
  await provider.shutdown();
  api.context.disable();
  api.propagation.disable();
  api.trace.disable();
});

describe("openTelemetryHooks", () => {
  it("creates a span for every attempt under the caller's span, and propagates the trace", async () => {
    await using server = await serve((_, response, count) => {
      reply(response, count === 1 ? 503 : 200, profile, { "retry-after-ms": "1" });
    });
    const transport = createTransport({ baseUrl: server.baseUrl, apiKey, hooks: openTelemetryHooks(api) });
    await api.trace.getTracer("test").startActiveSpan("mine", async (span) => {
      await transport.call(getProfile, { params: { id_or_name: "p1" } });
      span.end();
    });
    const [first, second, mine] = exporter.getFinishedSpans();
    const port = Number(new URL(server.baseUrl).port);
    expect(first).toMatchObject({
      name: "profiles.get",
      kind: api.SpanKind.CLIENT,
      status: { code: api.SpanStatusCode.ERROR },
      attributes: {
        "http.request.method": "GET",
        "http.response.status_code": 503,
        "error.type": "503",
        "url.full": `${server.baseUrl}/profiles/p1`,
        "server.address": "127.0.0.1",
        "server.port": port,
        "shoal.operation": "profiles.get",
        "shoal.request_id": "req_test",
      },
    });
    expect(second).toMatchObject({
      status: { code: api.SpanStatusCode.UNSET },
      attributes: { "http.response.status_code": 200, "http.request.resend_count": 1 },
    });
    const traceId = mine?.spanContext().traceId;
    expect([first, second].map((span) => span?.parentSpanContext?.spanId)).toEqual([
      mine?.spanContext().spanId,
      mine?.spanContext().spanId,
    ]);
    expect(server.seen.map(({ headers }) => headers.traceparent)).toEqual(
      [first, second].map((span) => `00-${traceId ?? ""}-${span?.spanContext().spanId ?? ""}-01`),
    );
  });

  it("ends the span of a failed attempt, and records neither key nor query", async () => {
    await using server = await serve((request) => request.socket.destroy());
    const transport = createTransport({
      baseUrl: server.baseUrl,
      apiKey,
      maxRetries: 0,
      hooks: openTelemetryHooks(api),
    });
    await failureOf(transport.call(listProfiles, { query: { query: "what people typed" } }));
    const spans = exporter.getFinishedSpans();
    expect(spans).toHaveLength(1);
    expect(spans[0]).toMatchObject({
      status: { code: api.SpanStatusCode.ERROR },
      attributes: { "error.type": "connection_failed", "url.full": `${server.baseUrl}/profiles` },
    });
    expect(JSON.stringify(spans[0]?.attributes)).not.toMatch(/sk_secret|typed/);
  });

  it("works together with other hooks, in their order", async () => {
    await using server = await serve((_, response) => {
      reply(response, 200, profile);
    });
    const seen: (string | null)[] = [];
    const hooks = [
      openTelemetryHooks(api),
      { onRequest: ({ headers }: { headers: Headers }) => void seen.push(headers.get("traceparent")) },
    ];
    await createTransport({ baseUrl: server.baseUrl, apiKey, hooks }).call(getProfile, {
      params: { id_or_name: "p1" },
    });
    expect(seen).toEqual([expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)]);
    expect(exporter.getFinishedSpans()).toHaveLength(1);
  });
});
