import { once } from "node:events";
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { serializedJson, ServiceError, type StreamFrame } from "@shoal/router";
import { eventuallyPasses } from "@shoal/testkit";
import { describe, expect, it, vi } from "vitest";
import { settled } from "./testing/conditions.ts";
import { adapters, answerOf, rawConnection } from "./testing/servers.ts";

const id = "/things/x";
const chunk = Buffer.alloc(64 * 1024, "x");

/** An endless stream that counts the bytes it produces. */
function endless(): { stream: Readable; readonly givenBytes: () => number } {
  let given = 0;
  const stream = new Readable({
    read() {
      given += chunk.length;
      this.push(chunk);
    },
  });
  return { stream, givenBytes: () => given };
}

describe.each(adapters)("replies over $name", ({ start }) => {
  it("sends a page with its next page token", async () => {
    const { url } = await start({
      list: ({ query }) =>
        query.offset === 0
          ? { items: [1, 2], hasMore: true, nextOffset: 2 }
          : { items: [3], hasMore: false, nextOffset: undefined },
    });
    const headersOf = (headers: Headers) =>
      ["x-limit", "x-offset", "x-has-more", "x-next-offset"].map((name) => headers.get(name));
    const first = await answerOf(fetch(`${url}/things?limit=2`));
    expect([first.body, headersOf(first.headers)]).toEqual([
      [1, 2],
      ["2", "0", "true", "2"],
    ]);
    const last = await answerOf(fetch(`${url}/things?limit=2&offset=2`));
    expect([last.body, headersOf(last.headers)]).toEqual([[3], ["2", "2", "false", "0"]]);
  });

  it("sends the declared status without a body if none is declared", async () => {
    const { url } = await start({ remove: () => undefined, touch: () => undefined });
    for (const [path, method, status, length] of [
      [id, "DELETE", 204, null],
      [`${id}/touch`, "POST", 201, "0"],
    ] as const) {
      const { headers, status: got } = await fetch(url + path, { method });
      expect([got, headers.get("content-length"), headers.get("content-type")]).toEqual([status, length, null]);
    }
  });

  it("sends JSON with its length in bytes", async () => {
    const { url } = await start({ get: () => ({ name: "Größe 😀" }) });
    const { headers } = await fetch(url + id);
    expect(headers.get("content-length")).toBe(String(Buffer.byteLength('{"name":"Größe 😀"}')));
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  });

  it("sends serialized JSON unchanged, alone and as a page", async () => {
    const serialized = serializedJson<never>(Buffer.from('[{"name" : "Größe"}]'));
    const { url } = await start({
      get: () => serialized,
      list: () => ({ items: serialized, hasMore: true, nextOffset: 7 }),
    });
    const one = await fetch(url + id);
    expect([one.headers.get("content-type"), one.headers.get("content-length"), await one.text()]).toEqual([
      "application/json; charset=utf-8",
      "22",
      '[{"name" : "Größe"}]',
    ]);
    const page = await fetch(`${url}/things`);
    expect([page.headers.get("x-next-offset"), await page.text()]).toEqual(["7", '[{"name" : "Größe"}]']);
  });

  describe("bytes", () => {
    it("arrive complete, with length and name", async () => {
      const content = Buffer.from("hello".repeat(100_000));
      const { url } = await start({
        read: () => ({
          stream: Readable.from([content.subarray(0, 7), content.subarray(7)]),
          sizeBytes: content.length,
          fileName: 'a"b/ü.txt',
        }),
      });
      const response = await fetch(`${url}${id}/content`);
      expect(response.headers.get("content-length")).toBe(String(content.length));
      expect(response.headers.get("content-type")).toBe("application/octet-stream");
      expect(response.headers.get("content-disposition")).toBe(
        `attachment; filename="a_b/_.txt"; filename*=UTF-8''a%22b%2F%C3%BC.txt`,
      );
      expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
    });

    it("cannot act on the origin of the service in a browser", async () => {
      const { url } = await start({ read: () => ({ stream: Readable.from(["<script>alert(1)</script>"]) }) });
      const { headers } = await fetch(`${url}${id}/content`);
      expect(headers.get("content-security-policy")).toBe("sandbox");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
    });

    it("may be empty, and of unknown length", async () => {
      const { url } = await start({
        read: ({ params }) => ({ stream: Readable.from(params.id === "none" ? [] : ["a", "b"]) }),
      });
      expect(await (await fetch(`${url}/things/none/content`)).text()).toBe("");
      expect(await (await fetch(`${url}/things/some/content`)).text()).toBe("ab");
    });

    it("are not read for HEAD", async () => {
      const { givenBytes, stream } = endless();
      const { url } = await start({ read: () => ({ stream, sizeBytes: 10 ** 12 }) });
      const { headers, status } = await fetch(`${url}${id}/content`, { method: "HEAD" });
      expect([status, headers.get("content-length")]).toEqual([200, String(10 ** 12)]);
      await eventuallyPasses(() => {
        expect(stream.destroyed).toBe(true);
      });
      expect(givenBytes()).toBeLessThan(10 * chunk.length);
    });

    it("that fail before the first byte become an error response", async () => {
      const { faults, url } = await start({
        read: ({ params }) => ({
          stream:
            params.id === "missing"
              ? createReadStream("/nonexistent/file")
              : new Readable({
                  read() {
                    this.destroy(new ServiceError(404, "not_found", "Gone."));
                  },
                }),
        }),
      });
      expect(await answerOf(fetch(`${url}${id}/content`))).toMatchObject({ status: 404, body: { message: "Gone." } });
      expect(faults).toEqual([]);
      expect(await answerOf(fetch(`${url}/things/missing/content`))).toMatchObject({
        status: 500,
        body: { code: "internal_error" },
      });
      expect(faults).toHaveLength(1);
    });

    it.each([
      [
        "fail in the middle",
        undefined,
        async function* () {
          yield chunk;
          throw new Error("broken");
        },
      ],
      [
        "end too early for their length",
        10 * chunk.length,
        async function* () {
          yield chunk;
        },
      ],
    ])(
      "that %s cut the connection, so that no client mistakes a part for the whole",
      async (_what, sizeBytes, generate: () => AsyncGenerator<Buffer>) => {
        const { faults, url } = await start({
          read: () => ({ stream: Readable.from(generate()), ...(sizeBytes !== undefined && { sizeBytes }) }),
        });
        const response = await fetch(`${url}${id}/content`);
        expect(response.status).toBe(200);
        await expect(response.arrayBuffer()).rejects.toThrow();
        await eventuallyPasses(() => {
          expect(faults).toHaveLength(1);
        });
      },
    );

    it("beyond the announced length are dropped", async () => {
      const streams: Readable[] = [];
      const read = () => {
        const { stream } = endless();
        streams.push(stream);
        return { stream, sizeBytes: 100_000 };
      };
      const { url } = await start({ read });
      // Twice over one connection: the first answer must not run into the second.
      for (let round = 0; round < 2; round += 1)
        expect((await (await fetch(`${url}${id}/content`)).arrayBuffer()).byteLength).toBe(100_000);
      expect(streams.map(({ destroyed }) => destroyed)).toEqual([true, true]);
    });

    it("of a destroyed stream are a fault of the handler", async () => {
      const { faults, url } = await start({ read: () => ({ stream: Readable.from(["a"]).destroy() }) });
      expect(await answerOf(fetch(`${url}${id}/content`))).toMatchObject({ status: 500 });
      expect(faults).toHaveLength(1);
    });

    it("wait for a slow reader, and stop when it disconnects", async () => {
      const { givenBytes, stream } = endless();
      const { faults, port } = await start({ read: () => ({ stream }) });
      const { socket } = await rawConnection(port, `GET ${id}/content HTTP/1.1\r\nHost: x\r\n\r\n`);
      socket.pause();
      const held = await settled(givenBytes);
      expect(held).toBeGreaterThan(0);
      expect(held).toBeLessThan(32 * 1024 * 1024);
      socket.resume();
      await eventuallyPasses(() => {
        expect(givenBytes()).toBeGreaterThan(held + 4 * 1024 * 1024);
      });
      socket.destroy();
      await eventuallyPasses(() => {
        expect(stream.destroyed).toBe(true);
      });
      expect(faults).toEqual([]);
    });

    it("that never arrive are given up when the client disconnects", async () => {
      const stream = new Readable({ read: () => undefined });
      const { faults, port } = await start({ read: () => ({ stream }) });
      const { socket } = await rawConnection(port, `GET ${id}/content HTTP/1.1\r\nHost: x\r\n\r\n`);
      await eventuallyPasses(() => {
        expect(stream.listenerCount("readable")).toBe(1);
      });
      socket.destroy();
      await once(stream, "close");
      expect(faults).toEqual([]);
    });
  });

  describe("events", () => {
    const frames = (...list: StreamFrame<unknown>[]) =>
      async function* () {
        yield* list;
      };

    it("are frames with an id, and end", async () => {
      const { url } = await start({
        follow: frames({ id: "1", data: { a: "line\nbreak" } }, { id: "2\n3", data: null }),
      });
      const response = await fetch(`${url}${id}/events`);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        "content-type": "text/event-stream",
        "cache-control": "no-store",
        "x-sse-content-type": "application/json",
      });
      expect(response.headers.get("x-request-id")).toMatch(/./);
      expect(await response.text()).toBe('id: 1\ndata: {"a":"line\\nbreak"}\n\nid: 23\ndata: null\n\n');
    });

    it("report gaps only to clients that request them", async () => {
      const { url } = await start({ follow: frames({ id: "7", gap: { missed: 6 } }, { id: "8", data: 8 }) });
      const textOf = async (asked: string) =>
        (await fetch(`${url}${id}/events`, { headers: { "x-shoal-stream": asked } })).text();
      expect(await textOf("gaps")).toBe('id: 7\nevent: gap\ndata: {"missed":6}\n\nid: 8\ndata: 8\n\n');
      expect(await textOf("")).toBe("id: 8\ndata: 8\n\n");
    });

    it("tell clients that request it when they have all stored events", async () => {
      const { url } = await start({ follow: frames({ id: "8", data: 8 }, { id: "8", caughtUp: true }) });
      const textOf = async (asked: string) =>
        (await fetch(`${url}${id}/events`, { headers: { "x-shoal-stream": asked } })).text();
      expect(await textOf("gaps, caught_up")).toBe("id: 8\ndata: 8\n\nid: 8\nevent: caught_up\ndata: {}\n\n");
      expect(await textOf("gaps")).toBe("id: 8\ndata: 8\n\n");
    });

    it("resume at the id that the reader sends", async () => {
      const { url } = await start({
        follow: async function* ({ lastEventId }) {
          yield { id: "1", data: { lastEventId } };
        },
      });
      const textOf = async (headers: Record<string, string>) => (await fetch(`${url}${id}/events`, { headers })).text();
      expect(await textOf({ "last-event-id": "42" })).toContain('"lastEventId":"42"');
      expect(await textOf({})).toContain("data: {}");
    });

    it("send headers before the first event, and comments while idle", async () => {
      const gate = Promise.withResolvers<undefined>();
      const { url } = await start(
        {
          follow: async function* () {
            await gate.promise;
            yield { id: "1", data: 1 };
          },
        },
        { heartbeatMs: 10 },
      );
      const response = await fetch(`${url}${id}/events`);
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      while (text.length < 9) text += (await reader?.read())?.value ?? "";
      expect(text).toMatch(/^(?::\n\n)+$/);
      gate.resolve(undefined);
      for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) text += part.value;
      expect(text).toMatch(/^(?::\n\n)+id: 1\ndata: 1\n\n$/);
    });

    it("are cut and reported when the handler's iterator fails, so that the reader reconnects", async () => {
      const { faults, port } = await start({
        follow: async function* () {
          yield { id: "1", data: 1 };
          throw new Error("broken");
        },
      });
      // `fetch` and `node:http` drop what they have received when the connection ends in the same turn.
      const { socket, received } = await rawConnection(port, `GET ${id}/events HTTP/1.1\r\nHost: a\r\n\r\n`);
      await once(socket, "close");
      // Frames written in the same turn still arrive, and the answer has no end.
      expect(received()).toMatch(/\r\n\r\n[\da-f]+\r\nid: 1\ndata: 1\n\n\r\n$/);
      expect(faults).toMatchObject([{ error: { message: "broken" } }]);
    });

    it("become an error response when the handler fails before it returns an iterator", async () => {
      const { url } = await start({
        follow: () => Promise.reject(new ServiceError(404, "not_found", "No such watch.")),
      });
      expect(await answerOf(fetch(`${url}${id}/events`))).toMatchObject({
        status: 404,
        body: { message: "No such watch." },
      });
    });

    it("return the iterator when the reader disconnects, even while its next event is awaited", async () => {
      const returned = vi.fn();
      const asked = Promise.withResolvers<undefined>();
      const { faults, port } = await start({
        follow: () => ({
          [Symbol.asyncIterator]: () => ({
            next: () => {
              asked.resolve(undefined);
              return new Promise<never>(() => undefined);
            },
            return: async () => {
              returned();
              return { done: true, value: undefined };
            },
          }),
        }),
      });
      const { socket } = await rawConnection(port, `GET ${id}/events HTTP/1.1\r\nHost: x\r\n\r\n`);
      await asked.promise;
      socket.destroy();
      await eventuallyPasses(() => {
        expect(returned).toHaveBeenCalledTimes(1);
      });
      expect(faults).toEqual([]);
    });

    it("abort the signal of a generator that waits for its next event", async () => {
      const ended = Promise.withResolvers<undefined>();
      const { faults, port } = await start({
        follow: async function* ({ signal }) {
          try {
            yield { id: "1", data: 1 };
            await new Promise<void>((resolve) => {
              signal.addEventListener("abort", () => {
                resolve();
              });
            });
          } finally {
            ended.resolve(undefined);
          }
        },
      });
      const { received, socket } = await rawConnection(port, `GET ${id}/events HTTP/1.1\r\nHost: x\r\n\r\n`);
      await eventuallyPasses(() => {
        expect(received()).toContain("data: 1");
      });
      socket.destroy();
      await ended.promise;
      expect(faults).toEqual([]);
    });

    it("wait for a slow reader and lose no event", async () => {
      const total = 2000;
      let given = 0;
      const text = "x".repeat(10_000);
      const { port } = await start({
        follow: async function* () {
          for (; given < total; given += 1) yield { id: String(given), data: text };
        },
      });
      const { received, socket } = await rawConnection(
        port,
        `GET ${id}/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      );
      socket.pause();
      expect(await settled(() => given)).toBeLessThan(total);
      socket.resume();
      await once(socket, "close");
      const ids = [...received().matchAll(/^id: (\d+)$/gm)].map(([, number]) => Number(number));
      expect(ids).toEqual(Array.from({ length: total }, (_, index) => index));
    });

    it("are not sent for HEAD", async () => {
      const { url } = await start({ follow: frames() });
      const { headers, status } = await fetch(`${url}${id}/events`, { method: "HEAD" });
      expect([status, headers.get("allow")]).toEqual([405, "GET"]);
    });
  });
});
