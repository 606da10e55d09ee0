import { getProfile, readFile } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import { configure, fastifyOptions, mount } from "@shoal/router/fastify";
import { eventuallyPasses } from "@shoal/testkit";
import Fastify from "fastify";
import { Readable } from "node:stream";
import { expect, it, onTestFinished } from "vitest";
import { answerOf, rawConnection } from "../testing/servers.ts";

it("requires a server created with fastifyOptions", () => {
  expect(() => {
    configure(Fastify());
  }).toThrow("Fastify({ ...fastifyOptions })");
});

it("answers errors from other hooks and routes of the server like its own", async () => {
  const app = Fastify({ ...fastifyOptions });
  configure(app);
  app.addHook("onRequest", async (request) => {
    if (request.headers.authorization === undefined) throw new ServiceError(401, "unauthorized", "Send a key.");
  });
  app.get("/own", () => {
    throw new Error("secret");
  });
  app.addHook("onSend", async (_request, reply) => {
    reply.header("x-own", "1");
  });
  app.addHook("onRequest", async (_request, reply) => {
    reply.header("x-early", "1");
  });
  mount(app, getProfile, ({ params }) => ({ id: params.id_or_name, created_at: "2026-01-01T00:00:00.000Z" }), {
    context: () => undefined,
  });
  mount(app, readFile, () => ({ stream: Readable.from(["x"]) }), { context: () => undefined });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => app.close());
  const authorized = { headers: { authorization: "Bearer x" } };

  expect(await answerOf(fetch(`${url}/profiles/a`))).toMatchObject({
    status: 401,
    body: { code: "unauthorized", message: "Send a key." },
  });
  const other = await fetch(`${url}/own`, { ...authorized, method: "DELETE" });
  expect([other.status, other.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  const headers = { ...authorized.headers, "content-type": "no media type" };
  for (const [path, method, status] of [
    ["/own", "QUERY", 405],
    ["/nothing", "QUERY", 404],
    ["/own", "OPTIONS", 405],
    ["/nothing", "POST", 404],
  ] as const) {
    expect([path, method, (await fetch(url + path, { ...authorized, method })).status]).toEqual([path, method, status]);
    const withBody = await fetch(url + path, { method, headers, body: "x" });
    expect([path, method, withBody.status]).toEqual([path, method, status]);
  }
  const failed = await answerOf(fetch(`${url}/own`, authorized));
  expect(failed).toMatchObject({ status: 500, body: { code: "internal_error" } });
  expect(JSON.stringify(failed.body)).not.toContain("secret");
  expect(failed.headers.get("x-request-id")).toMatch(/./);
  expect((await fetch(`${url}/profiles/a`, authorized)).headers.get("x-own")).toBe("1");
  const streamed = await fetch(`${url}/browsers/b/fs/read_file?path=/x`, authorized);
  expect([streamed.headers.get("x-early"), await streamed.text()]).toEqual(["1", "x"]);
});

it("answers with the error that the explain option returns", async () => {
  const app = Fastify({ ...fastifyOptions });
  const asked: unknown[] = [];
  configure(app, {
    explain(error) {
      asked.push(error);
      return error instanceof RangeError
        ? new ServiceError(503, "database_unavailable", "Come back.", { retryAfterSeconds: 2 })
        : error;
    },
  });
  const fail = (error: Error) => () => {
    throw error;
  };
  app.get("/own", fail(new RangeError("secret")));
  mount(app, getProfile, fail(new TypeError("secret")), { context: () => undefined });
  mount(app, readFile, () => ({ stream: Readable.from(["x"]) }), { context: fail(new RangeError("secret")) });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => app.close());
  for (const path of ["/own", "/browsers/b/fs/read_file?path=/x"]) {
    const { body, headers, status } = await answerOf(fetch(url + path));
    expect([status, headers.get("retry-after"), body]).toEqual([
      503,
      "2",
      { code: "database_unavailable", message: "Come back." },
    ]);
  }
  expect(await answerOf(fetch(`${url}/profiles/a`))).toMatchObject({ status: 500, body: { code: "internal_error" } });
  expect(await answerOf(fetch(`${url}/browsers/b/fs/read_file`))).toMatchObject({ status: 503 });
  expect(asked).toHaveLength(4);
});

it.each([
  ["has no Host", "GET /own HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
  ["has two Hosts", "GET /own HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n", 400],
  ["has no Host with HTTP/1.0", "GET /own HTTP/1.0\r\n\r\n", 200],
  [
    "has an unknown Expect header",
    "POST /own HTTP/1.1\r\nHost: x\r\nExpect: nonsense\r\nContent-Length: 2\r\n\r\n",
    417,
  ],
])("answers a request that %s, which Node would answer without a body", async (_, request, status) => {
  const app = Fastify({ ...fastifyOptions });
  configure(app);
  app.get("/own", async () => ({ code: "fine" }));
  const { port } = new URL(await app.listen({ port: 0, host: "127.0.0.1" }));
  onTestFinished(() => app.close());
  const { received, socket } = await rawConnection(Number(port), request);
  await eventuallyPasses(() => {
    expect(socket.destroyed).toBe(true);
  });
  expect(received()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(received().toLowerCase()).toContain("\r\nx-request-id: ");
  expect(received()).toContain('{"code":"');
});
