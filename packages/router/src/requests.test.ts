import { ServiceError } from "@shoal/router";
import { eventuallyPasses } from "@shoal/testkit";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { adapters, answerOf, problemsOf, rawConnection, send } from "./testing/servers.ts";

const id = "/things/x";
const echo = { get: ({ params }: { params: unknown }) => params };

describe.each(adapters)("requests over $name", ({ start }) => {
  describe("path", () => {
    it("passes the handler every name of up to 255 characters, decoded", async () => {
      const { url } = await start(echo);
      const names = fc.oneof(
        fc.string({ unit: "binary", minLength: 1, maxLength: 255 }),
        fc.string({
          unit: fc.constantFrom("/", "%", "?", "#", "😀", "€", ".", " ", "+"),
          minLength: 1,
          maxLength: 127,
        }),
      );
      await fc.assert(
        fc.asyncProperty(
          names.filter((name) => name.isWellFormed() && name.length <= 255 && name !== "." && name !== ".."),
          async (name) => {
            const { body, status } = await answerOf(fetch(`${url}/things/${encodeURIComponent(name)}`));
            expect([status, body]).toEqual([200, { id: name }]);
          },
        ),
        { numRuns: 60 },
      );
      for (const name of ["/".repeat(255), "%".repeat(255), "€".repeat(255), "a".repeat(255)]) {
        expect(await answerOf(fetch(`${url}/things/${encodeURIComponent(name)}`))).toMatchObject({
          status: 200,
          body: { id: name },
        });
      }
    });

    it("names the limit that a longer name exceeds", async () => {
      const { url } = await start(echo);
      expect(await problemsOf(fetch(`${url}/things/${"€".repeat(256).replaceAll("€", "%E2%82%AC")}`))).toEqual([
        "params.id: expected at most 255 characters",
      ]);
    });

    it.each(["/things/%zz", "/things/%E2%82", "/things/%"])("refuses %s, which cannot be decoded", async (path) => {
      const { url } = await start(echo);
      const answer = await answerOf(fetch(url + path));
      expect(answer).toMatchObject({
        status: 400,
        body: { code: "bad_request", message: "path: malformed percent-encoding" },
      });
      expect(answer.headers.get("x-request-id")).toMatch(/^[a-f0-9]{24}$/);
    });

    it("answers 404 for an unknown path, and 405 with Allow for another method", async () => {
      const { url } = await start({ ...echo, remove: () => undefined });
      const unknown = await answerOf(fetch(`${url}/nothing/here?secret=1`));
      expect(unknown).toMatchObject({
        status: 404,
        body: { code: "not_found", message: "Unknown path: GET /nothing/here." },
      });
      expect(unknown.headers.get("x-request-id")).toMatch(/./);
      const other = await answerOf(fetch(url + id, { method: "PUT" }));
      expect(other).toMatchObject({ status: 405, body: { code: "method_not_allowed" } });
      expect(other.headers.get("allow")).toBe("GET, HEAD, DELETE");
      expect(await answerOf(fetch(`${url}/nothing/here`, send("POST", {})))).toMatchObject({ status: 404 });
      expect(await answerOf(fetch(url + id, send("POST", "not json", { "content-type": "text/plain" })))).toMatchObject(
        { status: 405 },
      );
    });

    it("answers HEAD like GET without a body", async () => {
      const { url } = await start(echo);
      const response = await fetch(url + id, { method: "HEAD" });
      expect([response.status, response.headers.get("content-length"), await response.text()]).toEqual([
        200,
        String(JSON.stringify({ id: "x" }).length),
        "",
      ]);
    });
  });

  describe("request id", () => {
    it("is the caller's if valid, otherwise a new one, on every answer", async () => {
      const { url } = await start({ get: ({ requestId }) => ({ requestId }) });
      const idOf = async (given?: string) =>
        (await fetch(url + id, given === undefined ? {} : { headers: { "x-request-id": given } })).headers.get(
          "x-request-id",
        );
      expect(await idOf("Mine-1.2_3")).toBe("Mine-1.2_3");
      expect(await idOf("x".repeat(64))).toBe("x".repeat(64));
      for (const bad of ["x".repeat(65), "a b", "ü", ""]) expect(await idOf(bad)).toMatch(/^[a-f0-9]{24}$/);
      expect(new Set(await Promise.all(Array.from({ length: 100 }, () => idOf()))).size).toBe(100);
      const same = await answerOf(fetch(url + id, { headers: { "x-request-id": "same" } }));
      expect(same.body).toEqual({ requestId: "same" });
    });
  });

  describe("JSON body", () => {
    const create = { create: ({ body }: { body: unknown }) => body, update: ({ body }: { body: unknown }) => body };

    it("reaches the handler with its defaults filled in", async () => {
      const { url } = await start(create);
      expect(await answerOf(fetch(`${url}/things`, send("POST", { name: "a" })))).toMatchObject({
        status: 201,
        body: { name: "a", mode: "fast" },
      });
    });

    it("names every problem by its path, including refused unknown keys at every depth", async () => {
      const { url } = await start(create, { unknownFields: "refuse" });
      const body = {
        zzz: 1,
        name: "a b",
        viewport: { width: "1", zzz: 1 },
        mode: "other",
        items: [
          { width: 0, height: 1 },
          { width: 1, height: 1.5, zzz: {} },
        ],
        tags: { ä: "x", ok: 1 },
        target: { kind: "page", url: "x", zzz: 1 },
        either: { a: { deep: 1 } },
      };
      const problems = await problemsOf(fetch(`${url}/things`, send("POST", body)));
      expect(problems.toSorted()).toEqual([
        "body.either.a.deep: expected a string",
        "body.items[0].width: expected at least 1",
        "body.items[1].height: expected an integer",
        "body.items[1].zzz: unknown field; known are width, height",
        'body.mode: expected one of "fast", "slow"',
        'body.name: letters, digits, dots, underscores and hyphens only, and not "." or ".."',
        "body.tags.ok: expected a string",
        'body.tags["ä"]: invalid key: must match /^[A-Za-z0-9 _.:/=+@-]+$/',
        "body.target.zzz: unknown field; known are kind, url",
        "body.viewport.height: required (expected a number)",
        "body.viewport.width: expected a number",
        "body.viewport.zzz: unknown field; known are width, height",
        "body.zzz: unknown field; known are name, viewport, mode, items, tags, target, either, anything",
      ]);
    });

    it("names the first problem in the message, and limits the number of details", async () => {
      const { url } = await start(create, { unknownFields: "refuse" });
      const body = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`key${index}`, index]));
      const answer = await answerOf(fetch(`${url}/things`, send("POST", body)));
      const { details, message } = answer.body as { details: { code: string; message: string }[]; message: string };
      expect(details).toHaveLength(50);
      expect(details[0]).toEqual({ code: "invalid_input", field: "body.key0", message });
    });

    it("cannot change a prototype, and may contain free objects", async () => {
      const { url } = await start(create, { unknownFields: "refuse" });
      const tolerant = await start(create);
      const answer = await answerOf(
        fetch(`${tolerant.url}/things`, send("POST", '{"__proto__":{"name":"x"},"tags":{"a":"b"}}')),
      );
      expect([answer.body, answer.headers.get("x-shoal-ignored-fields")]).toEqual([
        { mode: "fast", tags: { a: "b" } },
        "body.__proto__",
      ]);
      expect(await problemsOf(fetch(`${url}/things`, send("POST", '{"__proto__":{"admin":true}}')))).toEqual([
        expect.stringMatching(/^body\.__proto__: unknown field/),
      ]);
      const anything = { constructor: 1, nested: { deep: [1, null, "x"] } };
      expect(await answerOf(fetch(`${url}/things`, send("POST", { anything })))).toMatchObject({ body: { anything } });
    });

    it.each(["", "null", "{}"])("accepts %j for an optional body as an empty object", async (text) => {
      const { url } = await start(create);
      expect(await answerOf(fetch(url + id, text === "" ? { method: "PATCH" } : send("PATCH", text)))).toMatchObject({
        status: 200,
        body: { mode: "fast" },
      });
    });

    it.each([
      ["", "body: required (expected a JSON object)"],
      ["null", "body: expected an object"],
      ["[]", "body: expected an object"],
      ["{", "body: not valid JSON"],
      ['"\ud800"', "body: expected an object"],
    ])("answers 400 to %j if a body is required", async (text, message) => {
      const { url } = await start(create);
      expect(
        await answerOf(fetch(`${url}/things`, text === "" ? { method: "POST" } : send("POST", text))),
      ).toMatchObject({
        status: 400,
        body: { code: "bad_request", message },
      });
    });

    it("answers 400 to bytes that are not UTF-8", async () => {
      const { url } = await start(create);
      const init = {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: new Uint8Array([0x22, 0xff, 0x22]),
      };
      expect(await answerOf(fetch(`${url}/things`, init))).toMatchObject({
        status: 400,
        body: { message: "body: not valid UTF-8" },
      });
    });

    it.each([
      "text/plain",
      "application/x-www-form-urlencoded",
      "application/json; charset=latin1",
      "nonsense",
      "application/jsonx",
    ])("answers 415 to %s", async (type) => {
      const { url } = await start(create);
      expect(await answerOf(fetch(`${url}/things`, send("POST", {}, { "content-type": type })))).toMatchObject({
        status: 415,
        body: { code: "unsupported_media_type" },
      });
    });

    it("answers 415 to a body that has no type or is compressed", async () => {
      const { url } = await start(create);
      expect(
        await answerOf(fetch(`${url}/things`, { method: "POST", body: new Uint8Array([0x7b, 0x7d]) })),
      ).toMatchObject({ status: 415 });
      expect(await answerOf(fetch(`${url}/things`, send("POST", {}, { "content-encoding": "gzip" })))).toMatchObject({
        status: 415,
        body: { message: expect.stringContaining("gzip") as string },
      });
    });

    it.each(["application/json; charset=UTF-8", "application/merge-patch+json", 'application/json;charset="utf-8"'])(
      "accepts %s",
      async (type) => {
        const { url } = await start(create);
        expect((await fetch(`${url}/things`, send("POST", {}, { "content-type": type }))).status).toBe(201);
      },
    );

    it("accepts a body up to the limit and answers 413 above it, with and without a Content-Length", async () => {
      const { url } = await start(create, { bodyLimitBytes: 1000 });
      const ofSize = (size: number) => `{"name":"a"}`.padEnd(size);
      const streamed = (text: string) => ({ ...send("POST", text), body: new Blob([text]).stream(), duplex: "half" });
      expect((await fetch(`${url}/things`, send("POST", ofSize(1000)))).status).toBe(201);
      for (const init of [send("POST", ofSize(1001)), streamed(ofSize(1001)), streamed(ofSize(3_000_000))]) {
        expect(await answerOf(fetch(`${url}/things`, init))).toMatchObject({
          status: 413,
          body: {
            code: "payload_too_large",
            message: "body: larger than the limit of 1000 bytes",
            field: "body",
            limit: 1000,
          },
        });
      }
    });
  });

  describe("a body with more structure than any request needs", () => {
    const create = { create: () => ({}) };
    const count = 60_000;

    it.each([
      ["an array", `{"name":[${"{},".repeat(count)}{}]}`, 413, /^body: has more than 50000 values/],
      [
        "fields",
        `{${Array.from({ length: count }, (_, index) => `"f${index}":0`).join(",")}}`,
        413,
        /^body: has more than 50000 values/,
      ],
      [
        "nesting",
        `{"name":${"[".repeat(count)}${"]".repeat(count)}}`,
        400,
        /^body: is nested more than 200 levels deep/,
      ],
    ])("is refused before it is parsed: %s", async (_what, text, status, message) => {
      const { url } = await start(create);
      expect(await answerOf(fetch(`${url}/things`, send("POST", text)))).toMatchObject({
        status,
        body: { message: expect.stringMatching(message) as string },
      });
    });
  });

  describe("a body whose endpoint has a higher limit", () => {
    const ofSize = (size: number, fill = " ") => `{"name":"a"}`.padEnd(size, fill);
    const streamed = (text: string) => ({ ...send("POST", text), body: new Blob([text]).stream(), duplex: "half" });

    it("is accepted up to the endpoint's limit, which the 413 names", async () => {
      const { url } = await start({ create: () => ({}), createLarge: () => ({}) }, { bodyLimitBytes: 1000 });
      for (const init of [send("POST", ofSize(3000)), streamed(ofSize(3000))]) {
        expect((await fetch(`${url}/large-things`, init)).status).toBe(201);
        expect((await fetch(`${url}/things`, send("POST", ofSize(1001)))).status).toBe(413);
      }
      for (const init of [send("POST", ofSize(3001)), streamed(ofSize(3001))]) {
        expect(await answerOf(fetch(`${url}/large-things`, init))).toMatchObject({
          status: 413,
          body: {
            code: "payload_too_large",
            message: "body: larger than the limit of 3000 bytes",
            field: "body",
            limit: 3000,
          },
        });
      }
    });

    it("is refused while many are read, without affecting smaller ones", async () => {
      const gate = Promise.withResolvers<object>();
      let held = 0;
      const { url } = await start({ createLarge: () => ((held += 1), gate.promise) }, { bodyLimitBytes: 1000 });
      const first = Array.from({ length: 8 }, () => fetch(`${url}/large-things`, send("POST", ofSize(1001))));
      await eventuallyPasses(() => {
        expect(held).toBe(8);
      });
      for (const init of [send("POST", ofSize(1001)), streamed(ofSize(3000))]) {
        const refused = await fetch(`${url}/large-things`, init);
        expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toEqual([
          503,
          "1",
          {
            code: "overloaded",
            message: expect.stringContaining("8 bodies of more than 1000 bytes") as unknown,
            hint: "Send the request again in a moment.",
          },
        ]);
      }
      const usual = fetch(`${url}/large-things`, send("POST", ofSize(1000)));
      await eventuallyPasses(() => {
        expect(held).toBe(9);
      });
      gate.resolve({});
      expect((await Promise.all([...first, usual])).map(({ status }) => status)).toEqual(
        Array.from({ length: 9 }, () => 201),
      );
      // Every large body has freed its place.
      for (let count = 0; count < 10; count += 1)
        expect((await fetch(`${url}/large-things`, send("POST", ofSize(1001, "x")))).status).toBe(400);
      expect((await fetch(`${url}/large-things`, send("POST", ofSize(3000)))).status).toBe(201);
    });
  });

  describe("query", () => {
    const list = {
      list: ({ query }: { query: unknown }) => ({ items: [query], hasMore: false, nextOffset: undefined }),
    };

    it("is converted to the types of its shape", async () => {
      const { url } = await start(list);
      const { body } = await answerOf(
        fetch(`${url}/things?limit=5&deep=true&kinds=a%2Cb&kinds=c&tags%5Bteam%5D=web%20dev&tags[x]=a+b&name=`),
      );
      expect(body).toEqual([
        { limit: 5, offset: 0, deep: true, kinds: ["a", "b", "c"], tags: { team: "web dev", x: "a b" }, name: null },
      ]);
    });

    it("names every problem", async () => {
      const { url } = await start(list, { unknownFields: "refuse" });
      expect(
        await problemsOf(
          fetch(
            `${url}/things?limit=1&limit=2&offset=x&deep=1&kinds=a,q&tags=a&zzz=1&__proto__=1&name=%zz&limit%5Ba%5D=1`,
          ),
        ),
      ).toEqual([
        "query.limit: given more than once",
        "query.tags: expected tags[name]=value",
        "query.name: malformed percent-encoding",
        expect.stringMatching(/^query\.zzz: unknown parameter; known are limit, offset,/),
        expect.stringMatching(/^query\.__proto__: unknown parameter/),
        expect.stringMatching(/^query\["limit\[a\]"\]: unknown parameter/),
        "query.offset: expected a number",
        "query.deep: expected a boolean",
        'query.kinds[1]: expected one of "a", "b", "c"',
      ]);
    });
  });

  describe("failure", () => {
    it("has the status, code and fields of a ServiceError", async () => {
      const error = new ServiceError(429, "too_many_requests", "Slow down.", {
        retryAfterSeconds: 1.2,
        details: [{ code: "invalid_input", message: "one" }],
      });
      const { faults, url } = await start({ get: () => Promise.reject(error) });
      const { body, headers, status } = await answerOf(fetch(url + id));
      expect([status, body, headers.get("retry-after"), headers.get("x-should-retry")]).toEqual([
        429,
        { code: "too_many_requests", message: "Slow down.", details: [{ code: "invalid_input", message: "one" }] },
        "2",
        null,
      ]);
      expect(faults).toEqual([]);
    });

    it("tells clients not to repeat a conflict, and to send an Idempotency-Key", async () => {
      const { url } = await start({
        get: () => {
          throw new ServiceError(409, "name_taken", "Taken.");
        },
        remove: () => {
          throw new ServiceError(401, "unauthorized", "Send a key.");
        },
      });
      expect((await fetch(url + id)).headers.get("x-should-retry")).toBe("false");
      expect((await fetch(url + id, { method: "DELETE" })).headers.get("www-authenticate")).toBe("Bearer");
    });

    it.each([
      [501, "not_implemented"],
      [504, "outcome_unknown"],
    ] as const)("tells clients not to repeat an operation after %i %s", async (status, code) => {
      const { url } = await start({
        get: () => {
          throw new ServiceError(status, code, "No.");
        },
      });
      const answer = await fetch(url + id);
      expect([answer.status, answer.headers.get("x-should-retry")]).toEqual([status, "false"]);
    });

    it("hides every other error of a handler, and reports it with the request's id", async () => {
      const { faults, url } = await start({
        get: () => {
          throw new Error("secret");
        },
      });
      const { body, status } = await answerOf(fetch(url + id, { headers: { "x-request-id": "r1" } }));
      expect([status, (body as { code: string }).code]).toEqual([500, "internal_error"]);
      expect(JSON.stringify(body)).not.toContain("secret");
      expect(JSON.stringify(body)).toContain("r1");
      expect(faults).toMatchObject([{ error: { message: "secret" }, requestId: "r1" }]);
    });

    it("reports a handler that returns nothing for declared JSON", async () => {
      const { faults, url } = await start({ get: () => undefined });
      expect((await fetch(url + id)).status).toBe(500);
      expect(faults).toHaveLength(1);
    });

    it("calls the context function before it validates the request", async () => {
      const { url } = await start(
        { create: ({ context }) => context },
        {
          context: async ({ authorization }) => {
            if (authorization !== "Bearer key") throw new ServiceError(401, "unauthorized", "Send a key.");
            return { user: "me" };
          },
        },
      );
      expect(await answerOf(fetch(`${url}/things`, send("POST", "{", { "content-type": "text/plain" })))).toMatchObject(
        { status: 401 },
      );
      expect(await answerOf(fetch(`${url}/things`, send("POST", {}, { authorization: "Bearer key" })))).toMatchObject({
        status: 201,
        body: { user: "me" },
      });
    });

    it("answers bytes that are not HTTP with the usual body, and closes the connection", async () => {
      const { port } = await start(echo);
      const { received, socket } = await rawConnection(port, "NONSENSE\r\n\r\n");
      await eventuallyPasses(() => {
        expect(socket.destroyed).toBe(true);
      });
      expect(received()).toMatch(/^HTTP\/1\.1 400 /);
      expect(received()).toMatch(/\r\nX-Request-Id: [a-f0-9]{24}\r\n/);
      expect(received()).toContain('{"code":"bad_request"');
    });
  });

  it("aborts the handler when its client disconnects, and reports nothing", async () => {
    const seen = Promise.withResolvers<AbortSignal>();
    const { faults, port, url } = await start({
      get: async ({ params, signal }) => {
        if (params.id === "second") return { signal: signal.aborted };
        seen.resolve(signal);
        await new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            reject(signal.reason as Error);
          });
        });
      },
    });
    const { socket } = await rawConnection(port, "GET /things/x HTTP/1.1\r\nHost: x\r\n\r\n");
    const signal = await seen.promise;
    expect(signal.aborted).toBe(false);
    socket.destroy();
    await eventuallyPasses(() => {
      expect(signal.aborted).toBe(true);
    });
    expect(await answerOf(fetch(`${url}/things/second`))).toMatchObject({ body: { signal: false } });
    expect(faults).toEqual([]);
  });
});
