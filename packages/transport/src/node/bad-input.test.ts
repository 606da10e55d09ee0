import { eventuallyPasses } from "@shoal/testkit";
import { getProfile, watchEvents } from "@shoal/contract";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  ApiError,
  ConnectionError,
  ContractError,
  createTransport,
  TimeoutError,
  type TransportOptions,
} from "../index.ts";
import { failureOf, profile, reply, serve } from "./testing/misbehaving-server.ts";

// Related tests: call.test.ts (JSON, pages, redirects), retry.test.ts (cut connections), event-stream.test.ts, transfer.test.ts.
const apiKey = "sk_secret_0123456789";
const params = { id_or_name: "p1" };
const megabyte = 1_000_000;

async function serveBytes(answer: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    socket.once("data", () => {
      answer(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function pour(socket: Socket, piece: Buffer, limitBytes: number): { readonly sent: () => number } {
  let sent = 0;
  const more = () => {
    while (sent < limitBytes && !socket.destroyed) {
      sent += piece.length;
      if (!socket.write(piece)) return;
    }
  };
  socket.on("drain", more);
  more();
  return { sent: () => sent };
}
const make = (server: { readonly baseUrl: string }, options: Partial<TransportOptions> = {}) =>
  createTransport({ baseUrl: server.baseUrl, apiKey, maxRetries: 0, ...options });

describe("too much input", () => {
  it.each([
    ["one header", Buffer.alloc(65_536, "x"), "HTTP/1.1 200 OK\r\nx-long: "],
    ["many headers", Buffer.from("x-more: 0123456789\r\n".repeat(3000)), "HTTP/1.1 200 OK\r\n"],
    ["interim responses", Buffer.from("HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n".repeat(1000)), ""],
  ])("of %s, 1 GB, is cut off", async (_, piece, start) => {
    let poured = { sent: () => 0 };
    await using server = await serveBytes((socket) => {
      socket.write(start);
      poured = pour(socket, piece, 1000 * megabyte);
    });
    const error = await failureOf(make(server, { timeoutMs: 1000 }).call(getProfile, { params }));
    expect(ConnectionError.isInstance(error) || TimeoutError.isInstance(error)).toBe(true);
    if (!TimeoutError.isInstance(error)) expect(poured.sent()).toBeLessThan(50 * megabyte);
  });

  it.each([
    ["an endless body", {}, () => Buffer.alloc(megabyte, "[1,")],
    [
      "a body that grows when it is decompressed",
      { "content-encoding": "gzip" },
      () => gzipSync(Buffer.alloc(70 * megabyte, " ")),
    ],
  ])("of %s is a ContractError, and uses little memory", async (_, headers, piece) => {
    let closed = false;
    await using server = await serve((request, response) => {
      response.writeHead(200, { "content-type": "application/json", ...headers });
      request.socket.on("close", () => (closed = true));
      if ("content-encoding" in headers) response.end(piece());
      else {
        const bytes = piece();
        const more = () => {
          while (!closed && response.write(bytes));
        };
        response.on("drain", more);
        more();
      }
    });
    const before = process.memoryUsage.rss();
    const error = await failureOf(make(server).call(getProfile, { params }));
    expect(ContractError.isInstance(error) && error.message).toContain("body: longer than 67108864 bytes");
    expect(process.memoryUsage.rss() - before).toBeLessThan(600 * megabyte);
    await eventuallyPasses(() => {
      expect("content-encoding" in headers || closed).toBe(true);
    });
  });
});

describe("invalid HTTP and invalid text", () => {
  it.each([
    "",
    "\0\0\0\0",
    "SSH-2.0-OpenSSH_9.2\r\n",
    "HTTP/1.1 \r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n{}",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}",
  ])("%j is a ConnectionError", async (bytes) => {
    await using server = await serveBytes((socket) => socket.end(bytes));
    const error = await failureOf(make(server).call(getProfile, { params }));
    expect(ConnectionError.isInstance(error) && error.message).toContain(server.baseUrl);
  });

  it("invalid UTF-8 in JSON and in events becomes replacement characters", async () => {
    const broken = Buffer.concat([Buffer.from('"w'), Buffer.from([0xc3, 0x28, 0xff]), Buffer.from('rk"')]);
    await using server = await serve((request, response) => {
      const events = request.url?.endsWith("/events") === true;
      response.writeHead(200, { "content-type": events ? "text/event-stream" : "application/json" });
      response.write(
        events
          ? 'id: 1\ndata: {"type":"CREATE","path":"/a","name":'
          : `{"id":"p1","created_at":"${profile.created_at}","name":`,
      );
      response.write(broken);
      response.end(events ? "}\n\n" : "}");
    });
    expect(await make(server).call(getProfile, { params })).toMatchObject({ name: "w\uFFFD(\uFFFDrk" });
    for await (const { name } of make(server).stream(watchEvents, { params: { id: "b1", watch_id: "w1" } }))
      expect(name).toBe("w\uFFFD(\uFFFDrk");
  });

  it("characters that are split between two chunks arrive whole", async () => {
    const bytes = Buffer.from(JSON.stringify({ ...profile, name: "größe 🐟" }));
    await using server = await serve((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const step = (at: number) => {
        if (at === bytes.length) response.end();
        else response.write(bytes.subarray(at, at + 1), () => setImmediate(step, at + 1));
      };
      step(0);
    });
    expect(await make(server).call(getProfile, { params })).toMatchObject({ name: "größe 🐟" });
  });
});

describe("path parameters", () => {
  it.each([
    ["../api-keys", "/profiles/..%2Fapi-keys"],
    ["..%2Fapi-keys", "/profiles/..%252Fapi-keys"],
    ["%2e%2e", "/profiles/%252e%252e"],
    ["a?b=c#d", "/profiles/a%3Fb%3Dc%23d"],
    ["..;/x", "/profiles/..%3B%2Fx"],
    ["\\..\\x", "/profiles/%5C..%5Cx"],
  ])("%j names no other operation", async (value, url) => {
    await using server = await serve((_, response) => {
      reply(response, 200, profile);
    });
    await make(server).call(getProfile, { params: { id_or_name: value } });
    expect(server.seen[0]?.url).toBe(url);
  });
});

describe("a clock that jumps", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each(["2001-01-01", "2090-01-01"])("to %s changes neither waits nor limits", async (day) => {
    const inTwoSeconds = () => new Date(Math.floor(performance.timeOrigin + performance.now()) + 1000).toUTCString();
    await using server = await serve((_, response, count) => {
      // The server's clock is correct.
      const now = new Date(performance.timeOrigin + performance.now()).toUTCString();
      if (count === 1) reply(response, 503, { code: "x", message: "x" }, { date: now, "retry-after": inTwoSeconds() });
      else if (count === 2) reply(response, 200, profile);
    });
    vi.useFakeTimers({ toFake: ["Date"], now: new Date(day) });
    const waits: number[] = [];
    const transport = make(server, {
      maxRetries: 1,
      totalTimeoutMs: 30_000,
      hooks: { onRetry: ({ delayMs }) => void waits.push(delayMs) },
    });
    expect(await transport.call(getProfile, { params })).toEqual(profile);
    expect(waits[0]).toBeLessThanOrEqual(2000);
    const limited = make(server, { timeoutMs: 200 }).call(getProfile, { params });
    vi.setSystemTime(new Date("2050-06-01"));
    expect(TimeoutError.isInstance(await failureOf(limited))).toBe(true);
  });
});

describe("2,000 calls at once", () => {
  it("each receive their own response, over a few hundred connections", async () => {
    let most = 0;
    await using server = await serve((request, response) => {
      const id = request.url?.split("/").at(-1) ?? "";
      const missing = id.endsWith("9");
      reply(response, missing ? 404 : 200, missing ? { code: "not_found", message: id } : { ...profile, id });
    });
    const transport = make(server, {
      hooks: {
        onResponse: async () => {
          most = Math.max(most, await server.connections());
        },
      },
    });
    const results = await Promise.allSettled(
      Array.from({ length: 2_000 }, (_, index) =>
        transport.call(getProfile, { params: { id_or_name: String(index) } }),
      ),
    );
    const wrong = results.filter((result, index) =>
      result.status === "fulfilled"
        ? result.value.id !== String(index)
        : !(ApiError.isInstance(result.reason) && result.reason.message === String(index)),
    );
    expect(wrong).toEqual([]);
    expect(server.seen).toHaveLength(2_000);
    expect(most).toBeGreaterThan(1);
    // A used connection is not always free immediately.
    expect(most).toBeLessThan(800);
  });

  it("stop waiting for their turn when their signal aborts", async () => {
    await using server = await serve((_, response, count) => {
      if (count > 1) reply(response, 200, profile);
    });
    const transport = make(server, { maxConcurrency: 1 });
    const [first, second] = [new AbortController(), new AbortController()];
    const call = (signal?: AbortSignal) => transport.call(getProfile, { params }, { ...(signal && { signal }) });
    const holding = failureOf(call(first.signal));
    await eventuallyPasses(() => {
      expect(server.seen).toHaveLength(1);
    });
    const waiting = failureOf(call(second.signal));
    const third = call();
    second.abort("second");
    expect(await waiting).toBe("second");
    expect(server.seen).toHaveLength(1);
    first.abort("first");
    expect(await holding).toBe("first");
    expect(await third).toEqual(profile);
    expect(() => make(server, { maxConcurrency: 0 })).toThrow("maxConcurrency must be at least 1");
  });
});
