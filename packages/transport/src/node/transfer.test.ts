import { defineEndpoint, empty, json, multipart, readFile, uploadFiles, uploadZip, writeFile } from "@shoal/contract";
import fc from "fast-check";
import { mkdtemp, rm, writeFile as write } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ReadableStream as NodeStream } from "node:stream/web";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";
import {
  ApiError,
  ConnectionError,
  ContractError,
  createTransport,
  TimeoutError,
  type TransportOptions,
  type UploadProgress,
} from "../index.ts";
import { fileFromPath } from "./index.ts";
import { failureOf, reply, serve, type TestServer } from "./testing/misbehaving-server.ts";

const params = { id: "b1" };
const query = { path: "/d/f" };
const make = (server: TestServer, options: Partial<TransportOptions> = {}) =>
  createTransport({ baseUrl: server.baseUrl, apiKey: "sk_secret_0123456789", maxRetries: 2, ...options });
const mebibyte = 2 ** 20;

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
/** Reads a body to its end without storing it; never resolves for an incomplete body. */
function countOf(request: IncomingMessage): Promise<number> {
  return new Promise((resolve) => {
    let bytes = 0;
    request
      .on("data", (chunk: Buffer) => (bytes += chunk.length))
      .on("end", () => {
        resolve(bytes);
      });
  });
}
const streamFrom = (chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>) =>
  NodeStream.from(chunks) as ReadableStream<Uint8Array>;
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-transport-"));
});
afterAll(() => rm(folder, { recursive: true }));

describe("upload of bytes", () => {
  const streamOf = (...chunks: string[]) => streamFrom(chunks.map((chunk) => new TextEncoder().encode(chunk)));

  it.each([
    ["a string", () => "päyload", 8],
    ["a Blob", () => new Blob(["päyload"]), 8],
    ["a Uint8Array", () => new TextEncoder().encode("päyload"), 8],
    ["an ArrayBuffer", () => new TextEncoder().encode("päyload").buffer, 8],
    ["a stream", () => streamOf("pä", "", "yload"), undefined],
    ["nothing", () => "", 0],
  ])("sends %s, with its length if it is known", async (_, body, length) => {
    const bodies: string[] = [];
    await using server = await serve((request, response) => {
      void bodyOf(request).then((bytes) => {
        bodies.push(bytes.toString());
        reply(response, 201);
      });
    });
    await expect(make(server).call(writeFile, { params, query, body: body() })).resolves.toBeUndefined();
    expect(bodies).toEqual([length === 0 ? "" : "päyload"]);
    expect(server.seen[0]).toMatchObject({
      method: "PUT",
      url: "/browsers/b1/fs/write_file?path=%2Fd%2Ff",
      headers: { "content-type": "application/octet-stream" },
    });
    expect(server.seen[0]?.headers["content-length"]).toBe(length === undefined ? undefined : String(length));
  });

  it.each([[{ path: "/a" }], [7], [[1, 2]]])("rejects %j before sending it", async (body) => {
    await using server = await serve((_, response) => {
      reply(response, 201);
    });
    const error = await failureOf(make(server).call(writeFile, { params, query, body: body as unknown as string }));
    expect(String(error)).toContain("TypeError: The upload must be a string, a Blob");
    expect(server.seen).toHaveLength(0);
  });

  it("retries bytes and files, but not streams", async () => {
    const bodies: string[] = [];
    await using server = await serve((request, response, count) => {
      void bodyOf(request).then((bytes) => {
        bodies.push(bytes.toString());
        reply(response, count === 2 ? 201 : 503, { code: "x", message: "x" }, { "retry-after-ms": "1" });
      });
    });
    await make(server).call(writeFile, { params, query, body: new Blob(["twice"]) });
    expect(bodies).toEqual(["twice", "twice"]);
    const error = await failureOf(make(server).call(writeFile, { params, query, body: streamOf("once") }));
    expect(ApiError.isInstance(error) && error.status).toBe(503);
    expect(bodies).toHaveLength(3);
  });

  it("reports progress", async () => {
    await using server = await serve((request, response) => {
      void countOf(request).then((bytes) => {
        reply(response, bytes === mebibyte ? 201 : 400);
      });
    });
    const seen: UploadProgress[] = [];
    await make(server).call(
      writeFile,
      { params, query, body: new Uint8Array(mebibyte) },
      { onUploadProgress: (progress) => seen.push(progress) },
    );
    expect(seen.map((progress) => progress.sentBytes)).toEqual([0.25, 0.5, 0.75, 1].map((part) => part * mebibyte));
    expect(seen.every((progress) => progress.totalBytes === mebibyte)).toBe(true);
  });

  it("rejects with the error of the source, and closes the source when the service rejects the upload", async () => {
    await using server = await serve((request, response) => {
      // Bytes that a server has not read when it closes a connection may replace its answer by a reset.
      request.resume();
      reply(response, 413, { code: "payload_too_large", message: "Too much." });
    });
    const mine = new Error("disk on fire");
    const broken = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(mine);
      },
    });
    expect(await failureOf(make(server).call(writeFile, { params, query, body: broken }))).toBe(mine);
    let cancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setImmediate(resolve));
        controller.enqueue(new Uint8Array(65_536));
      },
      cancel() {
        cancelled = true;
      },
    });
    const error = await failureOf(make(server).call(writeFile, { params, query, body: endless }));
    expect(ApiError.isInstance(error) && error.code).toBe("payload_too_large");
    await expect.poll(() => cancelled).toBe(true);
    const used = streamOf("x");
    used.getReader();
    expect(String(await failureOf(make(server).call(writeFile, { params, query, body: used })))).toContain(
      "already being read",
    );
  });

  it("is not forwarded by a redirect", async () => {
    await using server = await serve((request, response) => {
      request.resume();
      response.writeHead(307, { location: "http://127.0.0.1:9/elsewhere" }).end();
    });
    const error = await failureOf(make(server).call(writeFile, { params, query, body: "bytes" }));
    expect(ApiError.isInstance(error) && error.code).toBe("redirected");
    expect(server.seen).toHaveLength(1);
  });

  it("stops when it is aborted", async () => {
    const controller = new AbortController();
    await using server = await serve((request) => {
      request.once("data", () => {
        controller.abort("enough");
      });
    });
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      start(stream) {
        stream.enqueue(new Uint8Array(10));
      },
      cancel() {
        cancelled = true;
      },
    });
    expect(await failureOf(make(server).call(writeFile, { params, query, body }, { signal: controller.signal }))).toBe(
      "enough",
    );
    await expect.poll(() => cancelled).toBe(true);
  });
});

describe("multipart upload", () => {
  async function formOf(request: IncomingMessage): Promise<FormData> {
    return new Response(new Uint8Array(await bodyOf(request)), {
      headers: { "content-type": request.headers["content-type"] ?? "" },
    }).formData();
  }
  const receiving = (received: FormData[]) =>
    serve((request, response) => {
      formOf(request).then(
        (form) => {
          received.push(form);
          reply(response, 201);
        },
        (error: unknown) => {
          reply(response, 400, { code: "bad_request", message: String(error) });
        },
      );
    });

  it("names parts for the wire, text before files", async () => {
    const received: FormData[] = [];
    await using server = await receiving(received);
    const files = [
      { file: new File(["one"], "1.txt", { type: "text/plain" }), dest_path: "/a" },
      { dest_path: "/b", file: "text as a file" },
    ];
    await make(server).call(uploadFiles, { params, body: { files } });
    await make(server).call(uploadZip, {
      params,
      body: { zip_file: streamFrom([new Uint8Array(3)]), dest_path: "/c" },
    });
    const [many, zip] = received;
    expect([...(many?.keys() ?? [])]).toEqual([
      "files[0][dest_path]",
      "files[0][file]",
      "files[1][dest_path]",
      "files[1][file]",
    ]);
    expect([...(zip?.keys() ?? [])]).toEqual(["dest_path", "zip_file"]);
    const [first, second] = [many?.get("files[0][file]"), many?.get("files[1][file]")];
    expect(first instanceof File && [first.name, first.type, await first.text()]).toEqual([
      "1.txt",
      "text/plain",
      "one",
    ]);
    expect(second instanceof File && [second.name, second.type, await second.text()]).toEqual([
      "unknown_file",
      "application/octet-stream",
      "text as a file",
    ]);
    expect(server.seen[0]?.headers["content-length"]).toMatch(/^\d+$/);
    expect(server.seen[1]?.headers).toMatchObject({ "transfer-encoding": "chunked" });
  });

  it("sends scalars as text, an object without a file as JSON, and omits undefined fields", async () => {
    const received: FormData[] = [];
    await using server = await receiving(received);
    const endpoint = defineEndpoint({
      operationId: "test.deploy",
      area: "Test",
      plane: "control",
      method: "POST",
      path: "/deploy",
      summary: "Deploy.",
      body: multipart(
        z.object({
          name: z.string(),
          force: z.boolean(),
          count: z.number(),
          missing: z.optional(z.string()),
          source: z.object({ kind: z.string() }),
          names: z.array(z.string()),
          code: z.optional(z.file()),
        }),
      ),
      responses: { 200: json(z.unknown()), 201: empty },
      errors: [],
    });
    await make(server).call(endpoint, {
      body: { name: "ä\r\nb", force: true, count: 3, source: { kind: "git" }, names: ["x", "y"], code: "c" },
    });
    expect(Object.fromEntries(received[0] ?? [])).toMatchObject({
      name: "ä\r\nb",
      force: "true",
      count: "3",
      source: '{"kind":"git"}',
      "names[0]": "x",
      "names[1]": "y",
    });
    expect(received[0]?.get("code")).toBeInstanceOf(File);
    expect(received[0]?.has("missing")).toBe(false);
  });

  it("escapes names, paths and content", async () => {
    const received: FormData[] = [];
    await using server = await receiving(received);
    const transport = make(server);
    const hostile = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        'a"; name="evil',
        "a\r\ncontent-type: text/html\r\n\r\n",
        "a\0b",
        "--",
        '\\"',
        "../../etc/passwd",
      ),
    );
    await fc.assert(
      fc.asyncProperty(hostile, hostile, fc.uint8Array({ maxLength: 300 }), async (name, path, content) => {
        received.length = 0;
        await transport.call(uploadFiles, {
          params,
          body: { files: [{ dest_path: path, file: new File([new Uint8Array(content)], name) }] },
        });
        const form = received[0];
        expect([...(form?.keys() ?? [])]).toEqual(["files[0][dest_path]", "files[0][file]"]);
        // FormData reads text as UTF-8, which cannot encode half a surrogate pair.
        expect(form?.get("files[0][dest_path]")).toBe(path.toWellFormed());
        const file = form?.get("files[0][file]");
        expect(file instanceof File && new Uint8Array(await file.arrayBuffer())).toEqual(new Uint8Array(content));
      }),
      { numRuns: 60 },
    );
  });
});

describe("fileFromPath", () => {
  it("rejects anything but a regular file, and detects changes during the upload", async () => {
    await expect(fileFromPath(join(folder, "missing"))).rejects.toMatchObject({ code: "ENOENT" });
    await expect(fileFromPath(folder)).rejects.toThrow("is not a regular file but a directory");
    const path = join(folder, "small");
    await write(path, "small");
    const file = await fileFromPath(path, { type: "text/plain" });
    expect([file.type, await file.text()]).toEqual(["text/plain", "small"]);
    await write(path, "something else");
    await using server = await serve((request) => request.resume());
    const error = await failureOf(make(server).call(writeFile, { params, query, body: file }));
    expect(error).toMatchObject({ name: "NotReadableError" });
  });
});

describe("download", () => {
  it("returns the bytes as a stream, with size, type, name and progress", async () => {
    await using server = await serve((_, response) => {
      response.writeHead(200, {
        "content-type": "application/octet-stream",
        "content-length": "9",
        "content-disposition": `attachment; filename="x.txt"; filename*=UTF-8''..%2F%C3%A4%20b.txt`,
      });
      response.end("päyload!");
    });
    const seen: unknown[] = [];
    const file = await make(server).download(
      readFile,
      { params, query },
      { onDownloadProgress: (progress) => seen.push(progress) },
    );
    expect(file).toMatchObject({ sizeBytes: 9, contentType: "application/octet-stream", fileName: "ä b.txt" });
    expect(await new Response(file.stream).text()).toBe("päyload!");
    expect(seen).toEqual([{ receivedBytes: 9, totalBytes: 9 }]);
    expect(server.seen[0]?.headers.accept).toBe("application/octet-stream");
  });

  it.each([
    ['attachment; filename="a\\"b.txt"', "a_b.txt"],
    ["attachment; filename=.bashrc", "bashrc"],
    ["attachment; filename=plain.txt", "plain.txt"],
    ['attachment; filename="..\\\\..\\\\up.txt"', "up.txt"],
    ['attachment; filename=".."', undefined],
    ["attachment", undefined],
  ])("reads the file name in %j", async (disposition, name) => {
    await using server = await serve((_, response) => {
      response.writeHead(200, { "content-disposition": disposition }).end();
    });
    const file = await make(server).download(readFile, { params, query });
    expect(file.fileName).toBe(name);
    await file.stream.cancel();
  });

  it("rejects when the connection breaks, or when no more bytes arrive", async () => {
    let cut: () => unknown = () => undefined;
    await using server = await serve((request, response) => {
      response.writeHead(200, { "content-length": "1000" }).write("some");
      cut = () => request.socket.destroy();
    });
    const onDownloadProgress = () => void cut();
    const broken = await make(server).download(readFile, { params, query }, { onDownloadProgress });
    const error = await failureOf(new Response(broken.stream).text());
    expect(ConnectionError.isInstance(error) && error.message).toContain("after 4 bytes");
    // Its headers are here before the call.
    const begun = await fetch(server.baseUrl);
    const transport = make(server, { timeoutMs: 60, fetch: () => Promise.resolve(begun) });
    const silent = await transport.download(readFile, { params, query });
    expect(TimeoutError.isInstance(await failureOf(new Response(silent.stream).text()))).toBe(true);
  });

  it("rejects a page instead of a file, and closes the connection", async () => {
    await using server = await serve((_, response) => {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).write("<html>");
    });
    const error = await failureOf(make(server).download(readFile, { params, query }));
    expect(ContractError.isInstance(error) && error.path).toBe("headers.content-type");
    await expect.poll(() => server.connections()).toBe(0);
  });

  it("closes the connection when it is cancelled or aborted", async () => {
    await using server = await serve((_, response) => {
      response.writeHead(200).write("begin");
    });
    const cancelled = await make(server).download(readFile, { params, query });
    await cancelled.stream.cancel();
    await expect.poll(() => server.connections()).toBe(0);
    const controller = new AbortController();
    const aborted = await make(server).download(readFile, { params, query }, { signal: controller.signal });
    const reading = failureOf(new Response(aborted.stream).text());
    controller.abort("mine");
    expect(await reading).toBe("mine");
    await expect.poll(() => server.connections()).toBe(0);
  });
});
