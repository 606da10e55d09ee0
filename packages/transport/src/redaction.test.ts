import { getProfile, updateProfile } from "@shoal/contract";
import { describe, expect, it } from "vitest";
import { ApiError, createTransport, type ResponseInfo, type TransportOptions } from "./index.ts";
import { failureOf, profile, reply, serve, type TestServer } from "./node/testing/misbehaving-server.ts";

const apiKey = "sk_secret_0123456789";
const params = { id_or_name: "p1" };
const make = (server: TestServer, options: Partial<TransportOptions> = {}) =>
  createTransport({ baseUrl: server.baseUrl, apiKey, ...options });
const quick = { "retry-after-ms": "1" };

/** Returns everything that a logger, a debugger or a crash reporter could print of a value. */
function allTextOf(value: unknown, seen = new Set<unknown>()): string {
  if (typeof value !== "object" || value === null) return String(value);
  if (seen.has(value)) return "";
  seen.add(value);
  const keys = Reflect.ownKeys(value).filter(
    (key) =>
      key === "message" ||
      key === "stack" ||
      key === "cause" ||
      Object.getOwnPropertyDescriptor(value, key)?.enumerable === true,
  );
  const headers = value instanceof Headers ? JSON.stringify([...value]) : "";
  return keys.map((key) => `${String(key)}=${allTextOf(Reflect.get(value, key), seen)}`).join("\n") + headers;
}

describe("secrets", () => {
  it("are in no error, log line or hook", async () => {
    const printed: unknown[] = [];
    await using server = await serve((request, response, count) => {
      const leak = `You sent ${request.headers.authorization ?? ""}`;
      if (count === 1)
        reply(response, 400, { code: `bad ${apiKey}`, message: leak, details: [{ message: leak }], other: leak });
      else if (count === 2) response.writeHead(302, { location: `/${apiKey}` }).end();
      else if (count === 3) reply(response, 200, { id: leak });
      else if (count === 4) request.socket.destroy();
      else if (count < 7) reply(response, 503, { code: "x", message: leak }, quick);
    });
    const logger = {
      debug: (...line: unknown[]) => printed.push(line),
      warn: (...line: unknown[]) => printed.push(line),
    };
    const hooks = {
      onRequest: (info: unknown) => void printed.push(info),
      onResponse: ({ responseHeaders: _, ...info }: ResponseInfo) => void printed.push(info),
      onRetry: (info: unknown) => void printed.push(info),
    };
    const transport = make(server, { maxRetries: 0, logger, hooks });
    for (let count = 0; count < 4; count++) printed.push(await failureOf(transport.call(getProfile, { params })));
    printed.push(await failureOf(transport.call(getProfile, { params }, { maxRetries: 1 })));
    expect(server.seen).toHaveLength(6);
    // The server may see this one too late.
    printed.push(await failureOf(transport.call(getProfile, { params }, { timeoutMs: 100 })));
    const leaking = createTransport({
      baseUrl: server.baseUrl,
      apiKey,
      maxRetries: 0,
      fetch: (request) => Promise.reject(new Error(`cannot send ${request.headers.get("authorization") ?? ""}`)),
    });
    printed.push(await failureOf(leaking.call(getProfile, { params })));
    expect(printed.length).toBeGreaterThan(20);
    expect(allTextOf(printed)).toContain("[api key]");
    expect(allTextOf(printed)).not.toContain(apiKey);
    expect(allTextOf(transport)).not.toContain(apiKey);
  });
});

describe("secret headers", () => {
  it("are in no error", async () => {
    await using server = await serve((request, response) => {
      reply(response, 409, {
        code: "conflict",
        message: `seen: ${JSON.stringify(request.headers)}`,
        existing_id: "p7",
        echo: request.headers.cookie,
      });
    });
    const transport = make(server, {
      maxRetries: 0,
      headers: { cookie: "session=abcdef", "x-gateway-token": "tok_12345678", "x-team": "visible-team" },
    });
    const error = await failureOf(transport.call(getProfile, { params }));
    expect(ApiError.isInstance(error) && error.fields).toMatchObject({ existing_id: "p7", echo: "[cookie]" });
    expect(String(error)).toContain("visible-team");
    expect(allTextOf(error)).not.toMatch(/abcdef|tok_12345678|sk_secret/);
  });
});

describe("hooks", () => {
  it("can add headers, observe every attempt, and end the call", async () => {
    await using server = await serve((_, response, count) => {
      reply(response, count === 1 ? 500 : 200, profile, quick);
    });
    const seen: unknown[] = [];
    const transport = make(server, {
      hooks: {
        onRequest: ({ headers, attempt, operationId }) => {
          headers.set("x-trace", `${operationId} ${attempt}`);
        },
        onResponse: ({ status, attempt, method, durationMs }) =>
          void seen.push([method, attempt, status, durationMs > 0]),
      },
    });
    await transport.call(updateProfile, { params, body: { name: "new" } });
    expect(server.seen.map((request) => request.headers["x-trace"])).toEqual([
      "profiles.update 1",
      "profiles.update 2",
    ]);
    expect(seen).toEqual([
      ["PATCH", 1, 500, true],
      ["PATCH", 2, 200, true],
    ]);
    const mine = new Error("not today");
    const failures: unknown[] = [];
    const failing = createTransport({
      baseUrl: "http://127.0.0.1:9",
      maxRetries: 0,
      hooks: [
        { onFailure: ({ operationId, error }) => void failures.push([operationId, error]) },
        { onFailure: () => Promise.reject(new Error("lost")) },
      ],
    });
    const failure = await failureOf(failing.call(getProfile, { params }));
    expect(failures).toEqual([["profiles.get", failure]]);
    const refusing = make(server, {
      hooks: {
        onRequest: () => {
          throw mine;
        },
      },
    });
    expect(await failureOf(refusing.call(getProfile, { params }))).toBe(mine);
  });
});
