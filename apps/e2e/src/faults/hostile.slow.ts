import { contract, type Endpoint } from "@shoal/contract";
import { eventually } from "@shoal/testkit";
import fc from "fast-check";
import { readdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { missingFor } from "../testing/components.ts";
import { anyMethod, hostilePart, hostileQuery } from "../testing/hostile-requests.ts";
import { dial, expectWireShape, parseAnswer, type RawAnswer, sendRaw } from "../testing/raw-http.ts";
import { useService } from "../testing/service.ts";
import { hostPathOf, sessionFolders } from "../testing/session-folder.ts";
import { useSession } from "../testing/session.ts";

const endpoints: readonly Endpoint[] = Object.values(contract);
/** Endpoints that any path parameter may safely reach: no endless event streams. */
const targets = endpoints.filter(({ responses }) => Object.values(responses).every(({ kind }) => kind !== "events"));

const reason = missingFor("process");

describe.skipIf(reason)(`a hostile client${reason === undefined ? "" : ` (skipped, ${reason})`}`, () => {
  const test = useService(() => ["--placement", "process"]);
  const session = useSession(test);
  let descriptors: number;
  /** Of a server without the session, if there are several: it forwards most requests. */
  let serverUrl: string;

  const openDescriptors = () => test.pids.flatMap((pid) => readdirSync(`/proc/${pid}/fd`)).length;
  const head = (line: string, headers: Readonly<Record<string, string>> = {}) =>
    `${line} HTTP/1.1\r\n${Object.entries({
      Host: "shoal.test",
      Authorization: `Bearer ${test.service.apiKey}`,
      Connection: "close",
      ...headers,
    })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("")}\r\n`;
  const send = (bytes: string | Uint8Array, options: { halfClose?: boolean } = {}) =>
    sendRaw(serverUrl, { bytes, ...options });

  /** Checks that the service is healthy: every plane answers, and no resources of earlier requests remain. */
  async function expectWell(): Promise<void> {
    // A fuzzed request may have created a browser or started a recording.
    const started: string[] = [];
    for await (const { session_id } of await test.shoal.browsers.list())
      if (session_id !== session.id) started.push(session_id);
    for (const id of started) await test.shoal.browsers.delete(id);
    for (const { replay_id } of await test.shoal.browsers.replays.list(session.id))
      await test.shoal.browsers.replays.stop(session.id, replay_id);
    expect(await test.shoal.service.health()).toMatchObject({ status: "ok" });
    expect((await test.shoal.profiles.list()).items).toBeDefined();
    expect((await session.fs.fileInfo(session.id, { path: "/home/shoal" })).is_dir).toBe(true);
    // Idle connections to the database close after 30 s.
    await eventually("its descriptors are closed", () => openDescriptors() <= descriptors + 5 * test.pids.length);
    expect(test.service.output()).not.toMatch(/uncaught|unhandled|"level":60|FATAL/i);
  }

  beforeAll(async () => {
    await session.fs.writeFile(session.id, new Uint8Array(8_000_000), { path: "/home/shoal/large" });
    await test.shoal.profiles.list();
    descriptors = openDescriptors();
    const hasSession = (index: number) => test.dataDirs.slice(index, index + 1).flatMap(sessionFolders).length > 0;
    serverUrl = test.serverUrls.find((_, index) => !hasSession(index)) ?? test.service.baseUrl;
  });

  it("gets an error body for any path parameter and any query", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...targets), hostilePart, hostileQuery, async (endpoint, hostile, query) => {
        const path =
          endpoint.plane === "instance"
            ? endpoint.path
                .replace("{id}", Math.abs(hostile.length) % 2 === 0 ? session.id : hostile)
                .replaceAll(/\{\w+\}/g, hostile)
            : endpoint.path.replace(/\{\w+\}/, hostile);
        expectWireShape(
          await send(
            head(`${endpoint.method} ${path}${query}`, endpoint.method === "GET" ? {} : { "Content-Length": "0" }),
          ),
          `${endpoint.method} ${path}${query}`.slice(0, 300),
        );
      }),
      { numRuns: 150 },
    );
    await expectWell();
  });

  it("gets an error body for any path and method", async () => {
    await fc.assert(
      fc.asyncProperty(
        anyMethod,
        fc.array(
          fc.oneof(
            hostilePart,
            fc.constantFrom(
              "browsers",
              "profiles",
              "org",
              "api_keys",
              "fs",
              "watch",
              "cdp",
              "_instance",
              "stop",
              "health",
              "",
            ),
          ),
          { maxLength: 6 },
        ),
        fc.boolean(),
        async (verb, parts, withKey) => {
          const path = `/${parts.join("/")}`;
          const answer = await send(head(`${verb} ${path}`, withKey ? {} : { Authorization: "none" }));
          // Answers to HEAD have no body.
          if (verb !== "HEAD") expectWireShape(answer, `${verb} ${path}`.slice(0, 300));
          else if (answer !== undefined) expect([answer.body, answer.status < 500]).toEqual(["", true]);
        },
      ),
      { numRuns: 150 },
    );
    await expectWell();
  });

  it("reaches only the operations of an instance", async () => {
    for (const path of [
      "_instance/events",
      "_instance/stop",
      "_instance/assign",
      "fs/../_instance/stop",
      "fs/%2e%2e/_instance/stop",
      "./_instance/stop",
      "%5finstance/stop",
      "/_instance/stop",
      "fs//..//_instance/stop",
      "..;/_instance/stop",
      "cdp",
      "fs",
    ]) {
      for (const verb of ["GET", "POST"]) {
        const answer = await send(head(`${verb} /browsers/${session.id}/${path}`, { "Content-Length": "0" }));
        expect([path, answer?.status]).toEqual([
          path,
          expect.toSatisfy((status: number) => status === 404 || status === 405 || status === 400 || status === 426),
        ]);
        expectWireShape(answer, path);
      }
    }
    expect((await test.shoal.browsers.get(session.id)).deleted_at).toBeUndefined();
    await expectWell();
  });

  it("gets an error body for any body and any content type", async () => {
    const withBody = endpoints.filter(({ body }) => body !== undefined);
    const text = fc.oneof(
      fc.constantFrom(
        "",
        "{",
        "}",
        "null",
        "[]",
        '"x"',
        "NaN",
        "{]",
        '{"a":1,}',
        "﻿{}",
        "\0",
        "[".repeat(20_000),
        '{"a":'.repeat(5000),
        '{"__proto__":{"name":"x"},"name":"y"}',
        '{"name":"\\ud800"}',
        '{"name":"a","name":"b"}',
        `{"name":"${"x".repeat(100_000)}"}`,
        '{"timeout_seconds":1e400}',
        '{"timeout_seconds":-0}',
        '{"path":"/\\u0000"}',
        '{"constructor":{"prototype":{}}}',
      ),
      fc.json(),
      fc.string({ unit: "binary" }),
    );
    const type = fc.constantFrom(
      "application/json",
      "text/plain",
      "application/xml",
      "application/json; charset=utf-16",
      "multipart/form-data",
      "multipart/form-data; boundary=",
      "multipart/form-data; boundary=x",
      "application/x-www-form-urlencoded",
      "application/octet-stream",
      "nonsense",
      "application/json;",
      "",
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...withBody),
        text,
        type,
        fc.constantFrom({}, { "Content-Encoding": "gzip" }, { "Content-Encoding": "br, nonsense" }),
        async (endpoint, body, contentType, more) => {
          const path =
            endpoint.plane === "instance"
              ? endpoint.path.replace("{id}", session.id)
              : endpoint.path.replace(/\{\w+\}/, "nothing");
          const bytes = Buffer.from(body);
          const headers = {
            ...(contentType !== "" && { "Content-Type": contentType }),
            "Content-Length": String(bytes.length),
            ...more,
          };
          expectWireShape(
            await send(Buffer.concat([Buffer.from(head(`${endpoint.method} ${path}`, headers)), bytes])),
            `${endpoint.operationId} ${contentType} ${body.slice(0, 60)}`,
          );
        },
      ),
      { numRuns: 150 },
    );
    await expectWell();
  });

  const key = () => test.service.apiKey;
  const malformed: readonly (readonly [string, () => string, (number | undefined)[]])[] = [
    ["a header of 100 kB", () => head("GET /profiles", { "X-Large": "x".repeat(100_000) }), [431, undefined]],
    [
      "5,000 headers",
      () => head("GET /profiles", Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`X-${index}`, "x"]))),
      [200, 431, undefined],
    ],
    ["a URL of 100 kB", () => head(`GET /profiles/${"x".repeat(100_000)}`), [414, 431, undefined]],
    ["a huge key", () => head("GET /profiles", { Authorization: `Bearer ${"x".repeat(10_000)}` }), [401]],
    [
      "no Host",
      () => `GET /profiles HTTP/1.1\r\nAuthorization: Bearer ${key()}\r\nConnection: close\r\n\r\n`,
      [400, undefined],
    ],
    [
      "two Hosts",
      () =>
        `GET /profiles HTTP/1.1\r\nHost: a\r\nHost: b\r\nAuthorization: Bearer ${key()}\r\nConnection: close\r\n\r\n`,
      [400],
    ],
    ["a NUL in a header", () => head("GET /profiles", { "X-Nul": "a\0b" }), [400, undefined]],
    [
      "a bare line feed in a header",
      () => `GET /profiles HTTP/1.1\nHost: x\nAuthorization: Bearer ${key()}\nConnection: close\n\n`,
      [200, 400, undefined],
    ],
    ["an invalid Content-Length", () => head("POST /profiles", { "Content-Length": "ten" }), [400, undefined]],
    ["a negative length", () => head("POST /profiles", { "Content-Length": "-1" }), [400, undefined]],
    [
      "two lengths",
      () =>
        `POST /profiles HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key()}\r\nContent-Length: 2\r\nContent-Length: 3\r\nConnection: close\r\n\r\n{}x`,
      [400, undefined],
    ],
    [
      "a length and chunks",
      () =>
        `${head("POST /profiles", { "Content-Type": "application/json", "Content-Length": "4", "Transfer-Encoding": "chunked" })}0\r\n\r\n`,
      [400, undefined],
    ],
    [
      "an unknown transfer encoding",
      () => `${head("POST /profiles", { "Transfer-Encoding": "gzip" })}xx`,
      [400, 501, undefined],
    ],
    [
      "a bad chunk",
      () =>
        `${head("POST /profiles", { "Content-Type": "application/json", "Transfer-Encoding": "chunked" })}zz\r\n{}\r\n0\r\n\r\n`,
      [400, undefined],
    ],
    [
      "a bad chunk to an instance",
      () =>
        `${head(`PUT /browsers/${session.id}/fs/write_file?path=/home/shoal/chunked`, { "Content-Type": "application/octet-stream", "Transfer-Encoding": "chunked" })}5\r\nhello\r\nzz\r\n`,
      [400, undefined],
    ],
    ["another HTTP version", () => "GET /profiles HTTP/3.7\r\nHost: x\r\n\r\n", [400, 505, undefined]],
    ["no HTTP at all", () => "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03hello\r\n\r\n", [400, undefined]],
    ["another protocol", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [400, undefined]],
    [
      "CONNECT",
      () => "CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1:80\r\nConnection: close\r\n\r\n",
      [400, 404, 405, undefined],
    ],
    ["an absolute URL", () => head("GET http://other.test/profiles"), [200, 400, 404]],
    ["OPTIONS *", () => head("OPTIONS *"), [400, 404, 405]],
    [
      "an unmet expectation",
      () => head("POST /profiles", { Expect: "nonsense", "Content-Length": "2" }),
      [400, 417, undefined],
    ],
    [
      "an upgrade of something else",
      () =>
        head("GET /profiles", {
          Connection: "Upgrade",
          Upgrade: "websocket",
          "Sec-WebSocket-Version": "13",
          "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        }),
      [200, 400, 404, 426, undefined],
    ],
    [
      "an upgrade to another protocol",
      () => head("GET /profiles", { Connection: "Upgrade, close", Upgrade: "h2c" }),
      [200, 400, 404, 426, undefined],
    ],
  ];
  it.each(malformed)("gets an answer or the end of the connection for %s", async (what, bytes, expected) => {
    const answer = await send(bytes());
    expect(expected, `${what}: ${answer?.text.slice(0, 200) ?? "closed"}`).toContain(answer?.status);
    expectWireShape(answer, what);
    await expectWell();
  });

  it("gets answers in order for pipelined requests", async () => {
    const answer = await send(
      head("GET /profiles/first", { Connection: "keep-alive" }) +
        head("GET /health", { Connection: "keep-alive" }) +
        head("GET /profiles/third"),
    );
    const statuses = [...(answer?.text ?? "").matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    expect(statuses).toEqual(["404", "200", "404"]);
    expect(answer?.text.indexOf("first")).toBeLessThan(answer?.text.indexOf("third") ?? 0);
  });

  it("may send its body slowly without delaying other clients", async () => {
    const sockets = await Promise.all(Array.from({ length: 40 }, () => dial(serverUrl)));
    for (const [index, socket] of sockets.entries())
      socket.write(
        head(`PUT /browsers/${session.id}/fs/write_file?path=/home/shoal/slow-${index}`, {
          "Content-Type": "application/octet-stream",
          "Content-Length": "20",
        }).slice(0, index % 4 === 0 ? -20 : undefined),
      );
    const slow = await dial(serverUrl);
    let text = "";
    slow.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
    slow.write(head("POST /profiles", { "Content-Type": "application/json", "Content-Length": "15" }));
    const betweenBytesMs = 30; // so that each byte arrives alone
    for (const character of '{"name":"slow"}') {
      slow.write(character);
      await delay(betweenBytesMs);
      await test.shoal.service.health();
    }
    const answer = await eventually("the slow one is answered", () =>
      text.includes("\r\n\r\n") ? parseAnswer(text) : undefined,
    );
    expect(answer.status).toBe(201);
    expect(text).toContain('"name":"slow"');
    slow.destroy();
    for (const socket of sockets) socket.destroy();
    await expectWell();
    expect(
      (await session.fs.listFiles(session.id, { path: "/home/shoal" })).filter(({ name }) => name.startsWith("slow-")),
    ).toEqual([]);
  });

  it("that closes its half of the connection gets a whole answer or none", async () => {
    for (const path of [
      "/profiles/nothing",
      "/profiles",
      "/health",
      `/browsers/${session.id}/fs/file_info?path=/home/shoal`,
    ])
      expectWireShape(await send(head(`GET ${path}`), { halfClose: true }), path);
    const large = await send(head(`GET /browsers/${session.id}/fs/read_file?path=/home/shoal/large`), {
      halfClose: true,
    });
    if (large !== undefined) expect([large.status, large.body.length]).toEqual([200, 8_000_000]);
    // Half a request is not answered.
    expectWireShape(await send("GET /profiles HT", { halfClose: true }), "half a request");
    expectWireShape(
      await send(`${head("POST /profiles", { "Content-Type": "application/json", "Content-Length": "50" })}{"na`, {
        halfClose: true,
      }),
      "half a body",
    );
    expect(
      await send(
        `${head(`PUT /browsers/${session.id}/fs/write_file?path=/home/shoal/half`, { "Content-Type": "application/octet-stream", "Content-Length": "50" })}only this`,
        { halfClose: true },
      ),
    ).toSatisfy((answer: RawAnswer | undefined) => answer === undefined || answer.status >= 400);
    await expectWell();
    expect((await session.fs.listFiles(session.id, { path: "/home/shoal" })).map(({ name }) => name)).not.toContain(
      "half",
    );
  });

  it("that disconnects during a request leaves no resources", async () => {
    const onHost = await hostPathOf(test, session.id, "/home/shoal");
    const request = Buffer.concat([
      Buffer.from(
        head(`PUT /browsers/${session.id}/fs/write_file?path=/home/shoal/cut`, {
          "Content-Type": "application/octet-stream",
          "Content-Length": "300000",
        }),
      ),
      Buffer.alloc(300_000),
    ]);
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.nat(400), fc.nat(request.length - 1)), fc.boolean(), async (bytes, reset) => {
        const socket = await dial(serverUrl);
        await new Promise((resolve) => socket.write(request.subarray(0, bytes), resolve));
        if (reset) socket.resetAndDestroy();
        else socket.destroy();
      }),
      { numRuns: 60 },
    );
    await expectWell();
    await eventually(
      "nothing of it is left",
      () => !readdirSync(onHost).some((name) => name === "cut" || name.endsWith(".part")),
    );
  });

  it("that disconnects during an answer leaves no resources", async () => {
    for (let round = 0; round < 30; round++) {
      const socket = await dial(serverUrl);
      socket.write(
        head(
          `GET /browsers/${session.id}/fs/${round % 2 === 0 ? "read_file?path=/home/shoal/large" : "download_dir_zip?path=/home/shoal"}`,
        ),
      );
      await new Promise((resolve) => socket.once("data", resolve));
      if (round % 3 === 0) socket.resetAndDestroy();
      else socket.destroy();
    }
    await expectWell();
  });
});
