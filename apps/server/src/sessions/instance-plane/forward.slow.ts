import { bytes, defineEndpoint, empty, eventStream } from "@shoal/contract";
import type { Instance } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import { configure, fastifyOptions } from "@shoal/router/fastify";
import { Id, lazyObject } from "@shoal/schemas";
import Fastify, { type FastifyInstance } from "fastify";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type Server,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, connect } from "node:net";
import { pipeline, Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import * as z from "zod/mini";
import { serveForwarded } from "./forward.ts";

const params = lazyObject(() => ({ id: Id }));
const common = { area: "Test", plane: "instance", summary: "For the test.", params, errors: [] } as const;
const endpoints = [
  defineEndpoint({
    ...common,
    operationId: "test.read",
    method: "GET",
    path: "/browsers/{id}/read",
    responses: { 200: bytes("application/octet-stream") },
  }),
  defineEndpoint({
    ...common,
    operationId: "test.write",
    method: "PUT",
    path: "/browsers/{id}/write",
    body: bytes("application/octet-stream"),
    responses: { 201: empty },
  }),
  defineEndpoint({
    ...common,
    operationId: "test.remove",
    method: "DELETE",
    path: "/browsers/{id}/remove",
    responses: { 204: empty },
  }),
  defineEndpoint({
    ...common,
    operationId: "test.events",
    method: "GET",
    path: "/browsers/{id}/events",
    responses: { 200: eventStream(z.unknown()) },
  }),
];

/** Plays the instance: an HTTP server whose answer each test sets. */
let answer: (request: IncomingMessage, response: ServerResponse) => void;
let inner: Server;
let app: FastifyInstance;
let baseUrl: string;

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

const agent = new Agent({ keepAlive: true });
/** Over TCP, like the handles of the placement. */
const instance: Pick<Instance, "request"> = {
  async request({ method, path, headers, signal }, body) {
    const request = httpRequest({
      port: portOf(inner),
      method,
      path,
      ...(headers && { headers }),
      ...(signal && { signal }),
      agent,
    });
    const answered = once(request, "response") as Promise<[IncomingMessage]>;
    if (body instanceof Readable) pipeline(body, request, () => undefined);
    else request.end(body);
    request.on("error", () => undefined);
    return (await answered)[0];
  },
};

beforeAll(async () => {
  inner = createServer((request, response) => {
    answer(request, response);
  }).listen(0, "127.0.0.1");
  await once(inner, "listening");
  app = Fastify({ ...fastifyOptions, forceCloseConnections: true });
  configure(app);
  for (const endpoint of endpoints) {
    serveForwarded(app, endpoint, {
      async instanceFor(_request, id) {
        if (id === "ended") throw new ServiceError(404, "not_found", "It has ended.");
        // The handler uses nothing else.
        return instance as Instance;
      },
    });
  }
  baseUrl = await app.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(async () => {
  await app.close();
  agent.destroy();
  inner.closeAllConnections();
  inner.close();
});
beforeEach(() => {
  answer = () => {
    throw new Error("unexpected");
  };
});

/** Chunks of one random block, `count` times, with their SHA-256. */
function blocks(count: number): { stream(): Readable; digest: string; sizeBytes: number } {
  const block = randomBytes(1024 * 1024);
  const hash = createHash("sha256");
  for (let index = 0; index < count; index += 1) hash.update(block);
  return {
    stream: () =>
      Readable.from(
        (function* () {
          for (let index = 0; index < count; index += 1) yield block;
        })(),
      ),
    digest: hash.digest("hex"),
    sizeBytes: count * block.length,
  };
}

async function digestOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of stream) hash.update(chunk);
  return hash.digest("hex");
}

it("passes method, path, query, status and body unchanged, and only the headers that operations use", async () => {
  let seen: IncomingMessage | undefined;
  answer = (request, response) => {
    seen = request;
    response
      .writeHead(206, {
        "content-type": "application/octet-stream",
        "x-request-id": "theirs",
        etag: '"1"',
        "retry-after": "2",
      })
      .end("body");
  };
  const identity = {
    authorization: "Bearer secret",
    cookie: "c=d",
    "cf-access-jwt-assertion": "secret",
    "x-auth-request-email": "a@b.example",
    "x-amzn-oidc-data": "secret",
    "x-shoal-token": "secret",
    "x-forwarded-for": "203.0.113.5",
    "x-custom": "1",
    "user-agent": "me",
  };
  const response = await fetch(`${baseUrl}/browsers/b1/read?path=%2Fa%20b&x=%2E%2E`, {
    headers: { ...identity, "idempotency-key": "k", range: "bytes=0-1", "last-event-id": "7", "x-request-id": "mine" },
  });
  expect(seen?.url).toBe("/read?path=%2Fa%20b&x=%2E%2E");
  expect(seen?.headers).toMatchObject({
    "idempotency-key": "k",
    range: "bytes=0-1",
    "last-event-id": "7",
    "x-request-id": "mine",
  });
  expect(Object.keys(seen?.headers ?? {}).toSorted()).toEqual([
    "accept",
    "connection",
    "host",
    "idempotency-key",
    "last-event-id",
    "range",
    "x-request-id",
  ]);
  expect([response.status, await response.text()]).toEqual([206, "body"]);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "x-request-id": "mine",
    etag: '"1"',
    "retry-after": "2",
  });
});

it("sandboxes every answer and drops headers and types that could act on the origin of the service", async () => {
  const harmful = {
    "service-worker-allowed": "/",
    "clear-site-data": '"*"',
    nel: "{}",
    "report-to": "{}",
    "alt-svc": 'h2="evil.example:443"',
    "strict-transport-security": "max-age=1",
    "access-control-allow-origin": "*",
    "set-cookie": "a=b",
    refresh: "0;url=https://evil.example",
    "x-accel-redirect": "/internal",
    "content-security-policy": "default-src *",
    "x-own": "1",
  };
  for (const type of ["text/html", "text/javascript; charset=utf-8", "image/svg+xml"]) {
    answer = (_request, response) => response.writeHead(200, { ...harmful, "content-type": type }).end("<script>");
    const response = await fetch(`${baseUrl}/browsers/b1/read`);
    expect(await response.text()).toBe("<script>");
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/octet-stream",
      "content-security-policy": "sandbox",
      "x-content-type-options": "nosniff",
    });
    const names = [...response.headers.keys()].filter((name) => name in harmful);
    expect(names).toEqual(["content-security-policy"]);
  }
});

it("frames a body of any method, so that no body is parsed as another request", async () => {
  const seen: string[] = [];
  answer = (request, response) => {
    seen.push(`${request.method ?? ""} ${request.url ?? ""}`);
    request.resume().on("end", () => response.writeHead(200).end());
  };
  const socket = connect(portOf(app.server), "127.0.0.1");
  const smuggled = "POST /_instance/stop HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";
  let received = "";
  socket.setEncoding("latin1").on("data", (data: string) => (received += data));
  socket.write(
    `DELETE /browsers/b1/remove HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n` +
      "GET /browsers/b1/read HTTP/1.1\r\nHost: x\r\n\r\n",
  );
  await expect.poll(() => received.match(/HTTP\/1\.1 200/g)?.length).toBe(2);
  socket.destroy();
  expect(seen).toEqual(["DELETE /remove", "GET /read"]);
});

it("answers HEAD without a body", async () => {
  answer = (request, response) =>
    response.writeHead(200, { "content-length": "7" }).end(request.method === "HEAD" ? undefined : "1234567");
  const response = await fetch(`${baseUrl}/browsers/b1/read`, { method: "HEAD" });
  expect([response.status, response.headers.get("content-length")]).toEqual([200, "7"]);
});

it("answers with the error of finding the instance", async () => {
  const response = await fetch(`${baseUrl}/browsers/ended/read`);
  expect([response.status, await response.json()]).toEqual([404, { code: "not_found", message: "It has ended." }]);
});

it("answers 503 browser_not_running when the instance does not answer", async () => {
  answer = (request) => request.socket.destroy();
  const response = await fetch(`${baseUrl}/browsers/b1/read`);
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ code: "browser_not_running" });
});

it("streams half a gigabyte up and down without buffering it", async () => {
  const content = blocks(512);
  let received = "";
  answer = (request, response) => {
    if (request.method === "GET")
      content.stream().pipe(response.writeHead(200, { "content-length": content.sizeBytes }));
    else
      void digestOf(request).then((digest) => {
        received = digest;
        response.writeHead(201).end();
      });
  };
  const before = process.memoryUsage.rss();
  let peak = 0;
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 20);
  try {
    const up = httpRequest(`${baseUrl}/browsers/b1/write`, {
      method: "PUT",
      headers: { "content-type": "application/octet-stream" },
    });
    content.stream().pipe(up);
    const [written] = (await once(up, "response")) as [IncomingMessage];
    expect(written.statusCode).toBe(201);
    written.resume();
    expect(received).toBe(content.digest);
    const down = httpRequest(`${baseUrl}/browsers/b1/read`).end();
    const [read] = (await once(down, "response")) as [IncomingMessage];
    expect(await digestOf(read)).toBe(content.digest);
  } finally {
    clearInterval(sampling);
  }
  // Three programs in one process, each with socket buffers; buffering the content once would far exceed this.
  expect(peak - before).toBeLessThan(300 * 1024 * 1024);
});

it("applies backpressure to the fast side when the other is slow", async () => {
  let sent = 0;
  answer = (_request, response) => {
    response.writeHead(200);
    const chunk = Buffer.alloc(64 * 1024);
    const more = () => {
      while (sent < 512 * 1024 * 1024) {
        sent += chunk.length;
        if (!response.write(chunk)) return void response.once("drain", more);
      }
    };
    more();
  };
  const request = httpRequest(`${baseUrl}/browsers/b1/read`).end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  // Nothing is read, so sending must stop far below the whole.
  let last = -1;
  await expect
    .poll(() => {
      const stopped = sent === last;
      last = sent;
      return stopped;
    })
    .toBe(true);
  expect(sent).toBeLessThan(64 * 1024 * 1024);
  response.destroy();
});

it("passes each event on immediately, and the head before the first one", async () => {
  let stream: ServerResponse | undefined;
  answer = (_request, response) => {
    stream = response.writeHead(200, { "content-type": "text/event-stream" });
    stream.flushHeaders();
  };
  const response = await fetch(`${baseUrl}/browsers/b1/events`);
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (const event of ["one", "two"]) {
    stream?.write(`data: ${event}\n\n`);
    expect((await reader?.read())?.value).toBe(`data: ${event}\n\n`);
  }
  stream?.end();
  expect((await reader?.read())?.done).toBe(true);
});

it("ends the instance's work when the client disconnects, before and during the answer", async () => {
  for (const answering of [false, true]) {
    const closed = Promise.withResolvers<undefined>();
    const arrived = Promise.withResolvers<undefined>();
    answer = (request, response) => {
      if (answering) response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
      request.socket.on("close", () => {
        closed.resolve(undefined);
      });
      arrived.resolve(undefined);
    };
    const client = new AbortController();
    const call = fetch(`${baseUrl}/browsers/b1/events`, { signal: client.signal });
    await arrived.promise;
    if (answering) await call;
    client.abort();
    await call.catch(() => undefined);
    await closed.promise;
  }
});

it("breaks off when the instance breaks off, so that half an answer does not look complete", async () => {
  answer = (_request, response) => {
    response.writeHead(200).write("half");
    setImmediate(() => response.destroy());
  };
  const response = await fetch(`${baseUrl}/browsers/b1/read`);
  await expect(response.text()).rejects.toThrow();
});

it("passes on an answer that arrives before the end of the upload, discards the rest, and keeps the connection usable", async () => {
  answer = (request, response) => {
    response.writeHead(request.method === "PUT" ? 413 : 200).end(request.method);
  };
  const content = blocks(64);
  // Node's client stops an upload once it has the answer, so this test writes to a socket.
  const socket = connect(portOf(app.server), "127.0.0.1");
  let received = "";
  socket.setEncoding("latin1").on("data", (data: string) => {
    received += data;
  });
  socket.write(`PUT /browsers/b1/write HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(content.sizeBytes)}\r\n\r\n`);
  for await (const block of content.stream()) if (!socket.write(block as Buffer)) await once(socket, "drain");
  socket.write("GET /browsers/b1/read HTTP/1.1\r\nHost: x\r\n\r\n");
  await expect.poll(() => received).toMatch(/^HTTP\/1\.1 413 [^]*PUT[^]*HTTP\/1\.1 200 [^]*GET/);
  socket.destroy();
});
