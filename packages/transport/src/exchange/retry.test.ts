import { createProfile, getProfile } from "@shoal/contract";
import { describe, expect, it } from "vitest";
import {
  ApiError,
  ConnectionError,
  createTransport,
  TimeoutError,
  type RetryInfo,
  type TransportOptions,
} from "../index.ts";
import { failureOf, profile, reply, serve, type TestServer } from "../node/testing/misbehaving-server.ts";

const apiKey = "sk_secret_0123456789";
const params = { id_or_name: "p1" };
const make = (server: TestServer, options: Partial<TransportOptions> = {}) =>
  createTransport({ baseUrl: server.baseUrl, apiKey, ...options });
const quick = { "retry-after-ms": "1" };

describe("retry", () => {
  it.each([408, 409, 429, 500, 502, 503, 529])("retries after %i", async (status) => {
    await using server = await serve((_, response, count) => {
      if (count < 3) reply(response, status, { code: "x", message: "x" }, quick);
      else reply(response, 200, profile);
    });
    expect(await make(server).call(getProfile, { params })).toEqual(profile);
    expect(server.seen).toHaveLength(3);
  });

  it.each([
    [400, {}, 1],
    [404, {}, 1],
    [501, {}, 1],
    [409, { "x-should-retry": "false" }, 1],
    [503, { "x-should-retry": "false" }, 1],
    [404, { "x-should-retry": "true" }, 3],
  ])("sends a request that gets %i %j %i times", async (status, headers, times) => {
    await using server = await serve((_, response) => {
      reply(response, status, { code: "x", message: "x" }, { ...quick, ...headers });
    });
    const error = await failureOf(make(server).call(getProfile, { params }));
    expect(ApiError.isInstance(error) && error.status).toBe(status);
    expect(server.seen).toHaveLength(times);
  });

  it("sends a POST with one key in all attempts, and only once without a key", async () => {
    await using server = await serve((_, response) => {
      reply(response, 503, { code: "x", message: "x" }, quick);
    });
    const transport = make(server);
    await failureOf(transport.call(createProfile, { body: { name: "a" } }));
    const keys = server.seen.map((request) => request.headers["idempotency-key"]);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    await failureOf(transport.call(createProfile, { body: {} }, { idempotencyKey: "mine", maxRetries: 0 }));
    await failureOf(transport.call(createProfile, { body: {} }, { idempotencyKey: false }));
    expect(server.seen.slice(3).map((request) => request.headers["idempotency-key"])).toEqual(["mine", undefined]);
  });

  it.each(["headers", "body"])(
    "retries when the connection breaks in the middle of the %s, and reports the reason at the end",
    async (where) => {
      await using server = await serve((request, response) => {
        if (where === "body") {
          response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
          response.write('{"id":');
          setImmediate(() => request.socket.destroy());
        } else {
          request.socket.write("HTTP/1.1 200 OK\r\ncontent-ty");
          setImmediate(() => request.socket.destroy());
        }
      });
      const retries: RetryInfo[] = [];
      const error = await failureOf(
        make(server, { maxRetries: 1, hooks: { onRetry: (retry) => void retries.push(retry) } }).call(getProfile, {
          params,
        }),
      );
      expect(ConnectionError.isInstance(error)).toBe(true);
      expect(String(error)).toContain(server.baseUrl);
      expect(server.seen).toHaveLength(2);
      expect(retries).toMatchObject([{ operationId: "profiles.get", attempt: 1, error: { name: "ConnectionError" } }]);
      expect(retries[0]?.delayMs).toBeGreaterThanOrEqual(375);
      expect(retries[0]?.delayMs).toBeLessThanOrEqual(500);
    },
  );

  it("reads the date of a retry by the clock of the service", async () => {
    const hourLater = new Date(Date.now() + 3_600_000).toUTCString();
    await using server = await serve((_, response, count) => {
      if (count > 1) reply(response, 200, profile);
      else reply(response, 503, { code: "x", message: "x" }, { date: hourLater, "retry-after": hourLater });
    });
    const retries: RetryInfo[] = [];
    const transport = make(server, { hooks: { onRetry: (retry) => void retries.push(retry) } });
    expect(await transport.call(getProfile, { params })).toEqual(profile);
    expect(retries).toMatchObject([{ attempt: 1, delayMs: 0 }]);
  });

  it("reports a refused connection", async () => {
    const server = await serve((_, response) => {
      reply(response, 200, profile);
    });
    await server[Symbol.asyncDispose]();
    const error = await failureOf(make(server, { maxRetries: 0 }).call(getProfile, { params }));
    const hint = "Start the service with `shoal serve`, or set baseUrl to the address of a running one.";
    expect(error).toMatchObject({
      name: "ConnectionError",
      message: `profiles.get could not reach ${server.baseUrl}: connect ECONNREFUSED ${server.baseUrl.slice(7)}. ${hint}`,
      hint,
    });
  });

  it("reports a server without TLS", async () => {
    await using server = await serve((_, response) => {
      reply(response, 200, profile);
    });
    const baseUrl = server.baseUrl.replace("http:", "https:");
    const error = await failureOf(make({ ...server, baseUrl }, { maxRetries: 0 }).call(getProfile, { params }));
    expect(ConnectionError.isInstance(error) && error.message).toBe(
      `profiles.get could not reach ${baseUrl}: it answers without TLS. Use http:// in baseUrl.`,
    );
  });

  it("waits for the service's Retry-After, but at most a minute", async () => {
    await using server = await serve((_, response, count) => {
      if (count === 1)
        reply(response, 429, { code: "too_many_requests", message: "Slow down." }, { "retry-after": "0" });
      else if (count === 2)
        reply(
          response,
          429,
          { code: "too_many_requests", message: "Slow down." },
          { "retry-after": new Date(Date.now() - 1000).toUTCString() },
        );
      else reply(response, 429, { code: "too_many_requests", message: "Slow down." }, { "retry-after": "3600" });
    });
    const error = await failureOf(make(server, { maxRetries: 9 }).call(getProfile, { params }));
    expect(ApiError.isInstance(error) && error.retryAfterMs).toBe(3_600_000);
    expect(server.seen).toHaveLength(3);
  });
});

describe("time", () => {
  it("of one attempt ends at timeoutMs, for the headers and for the body", async () => {
    await using server = await serve((request, response) => {
      if (request.url !== "/dripping") return;
      response.writeHead(200, { "content-type": "application/json" });
      const drip = setInterval(() => response.write(" "), 5);
      response.on("close", () => {
        clearInterval(drip);
      });
    });
    const silent = await failureOf(make(server, { maxRetries: 0, timeoutMs: 60 }).call(getProfile, { params }));
    expect(TimeoutError.isInstance(silent) && silent.message).toBe(
      "profiles.get timed out after 60 ms: no response arrived. Raise timeoutMs if it needs longer.",
    );
    // Its headers are here before the call.
    const dripping = await fetch(`${server.baseUrl}/dripping`);
    const late = await failureOf(
      make(server, { maxRetries: 0, timeoutMs: 60, fetch: () => Promise.resolve(dripping) }).call(getProfile, {
        params,
      }),
    );
    expect(TimeoutError.isInstance(late) && late.message).toContain("the response did not end");
  });

  it("of an attempt ends without ending the call", async () => {
    // It never answers.
    await using server = await serve(() => undefined);
    let attempts = 0;
    const answerSecond = (request: Request) =>
      (attempts += 1) === 1 ? fetch(request) : Promise.resolve(Response.json(profile));
    expect(await make(server, { timeoutMs: 60, fetch: answerSecond }).call(getProfile, { params })).toEqual(profile);
    expect(attempts).toBe(2);
  });

  it("of all attempts ends at totalTimeoutMs, without an attempt that cannot finish in time", async () => {
    await using server = await serve((_, response, count) => {
      if (count === 1) reply(response, 503, { code: "x", message: "x" }, { "retry-after-ms": "55000" });
    });
    const refused = await failureOf(make(server, { totalTimeoutMs: 50_000 }).call(getProfile, { params }));
    expect(ApiError.isInstance(refused) && refused.status).toBe(503);
    // No second attempt.
    expect(server.seen).toHaveLength(1);
    const error = await failureOf(make(server, { totalTimeoutMs: 80 }).call(getProfile, { params }));
    expect(TimeoutError.isInstance(error) && error.message).toContain("timed out after 80 ms in all");
    // Zero if the timeout expires before the server reads the request.
    expect(server.seen.length).toBeLessThanOrEqual(2);
  });

  it.each(["before", "waiting for", "reading", "between tries of"])(
    "ends with the caller's own reason when it aborts %s the response",
    async (when) => {
      const controller = new AbortController();
      const reason = { mine: true };
      const abort = () => {
        controller.abort(reason);
      };
      await using server = await serve((_, response) => {
        if (when === "reading") response.writeHead(200).write("{");
        if (when === "between tries of")
          reply(response, 503, { code: "x", message: "x" }, { "retry-after-ms": "30000" });
        else setImmediate(abort);
      });
      if (when === "before") abort();
      const transport = make(server, {
        hooks: when === "between tries of" ? { onRetry: () => void setImmediate(abort) } : {},
      });
      expect(await failureOf(transport.call(getProfile, { params }, { signal: controller.signal }))).toBe(reason);
    },
  );

  it("ends even if a custom fetch ignores the signal", async () => {
    const transport = createTransport({
      baseUrl: "http://host",
      apiKey,
      timeoutMs: 20,
      maxRetries: 0,
      fetch: () => new Promise<never>(() => undefined),
    });
    expect(TimeoutError.isInstance(await failureOf(transport.call(getProfile, { params })))).toBe(true);
  });
});
