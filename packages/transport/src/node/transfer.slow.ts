import { readFile, uploadFiles, writeFile } from "@shoal/contract";
import { mkdtemp, open, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ReadableStream as NodeStream } from "node:stream/web";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTransport, TimeoutError, type TransportOptions, type UploadProgress } from "../index.ts";
import { fileFromPath } from "./index.ts";
import { failureOf, reply, serve, type TestServer } from "./testing/misbehaving-server.ts";

const params = { id: "b1" };
const query = { path: "/d/f" };
const make = (server: TestServer, options: Partial<TransportOptions> = {}) =>
  createTransport({ baseUrl: server.baseUrl, apiKey: "sk_secret_0123456789", maxRetries: 2, ...options });
const mebibyte = 2 ** 20;

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

const streamFrom = (chunks: AsyncIterable<Uint8Array>) => NodeStream.from(chunks) as ReadableStream<Uint8Array>;
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;
/** Measures memory in use without garbage; the size of the process would say little. */
function memoryWatch() {
  const inUse = (): number => {
    // Buffers are freed after the first collection; the second collection waits for that.
    collectGarbage();
    collectGarbage();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = inUse();
  let steps = 0;
  let peak = before;
  return {
    /** Receives the number of transferred bytes; measures every 32 MiB. */
    at(bytes: number): void {
      if (bytes < (steps + 1) * 32 * mebibyte) return;
      steps += 1;
      peak = Math.max(peak, inUse());
    },
    result: () => ({ steps, growthBytes: peak - before }),
  };
}

describe("upload", () => {
  it("continues while bytes move, and ends when they stop", async () => {
    await using server = await serve((request, response) => {
      void countOf(request).then(() => {
        reply(response, 201);
      });
    });
    const slow = async function* (pauses: number[]) {
      for (const ms of pauses) {
        await new Promise((resolve) => setTimeout(resolve, ms));
        yield new Uint8Array(10);
      }
    };
    const transport = make(server, { timeoutMs: 4_000 });
    await transport.call(writeFile, { params, query, body: streamFrom(slow(Array.from({ length: 25 }, () => 200))) });
    const error = await failureOf(transport.call(writeFile, { params, query, body: streamFrom(slow([1, 10_000])) }));
    expect(TimeoutError.isInstance(error) && error.message).toContain("the upload made no progress");
  });

  it("of a file on disk keeps memory flat", async () => {
    await using server = await serve((request, response) => {
      void countOf(request).then((bytes) => {
        reply(response, bytes > 256 * mebibyte ? 201 : 400);
      });
    });
    const folder = await mkdtemp(join(tmpdir(), "shoal-transport-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, "big.bin");
    await using written = await open(path, "w");
    await written.truncate(256 * mebibyte);
    const file = await fileFromPath(path);
    expect([file.name, file.size]).toEqual(["big.bin", 256 * mebibyte]);
    const memory = memoryWatch();
    const onUploadProgress = ({ sentBytes }: UploadProgress) => {
      memory.at(sentBytes);
    };
    await make(server, { maxRetries: 0 }).call(
      uploadFiles,
      { params, body: { files: [{ dest_path: "/big", file }] } },
      { onUploadProgress },
    );
    expect(memory.result().steps).toBe(8);
    expect(memory.result().growthBytes).toBeLessThan(96 * mebibyte);
  });
});

describe("download", () => {
  it("does not treat a slow reader as a silent service", async () => {
    await using server = await serve((_, response) => {
      response.writeHead(200).end("done");
    });
    const file = await make(server, { timeoutMs: 3_000 }).download(readFile, { params, query });
    const longerThanTimeoutMs = 3_300;
    await new Promise((resolve) => setTimeout(resolve, longerThanTimeoutMs));
    expect(await new Response(file.stream).text()).toBe("done");
  });

  it("keeps memory flat", async () => {
    const chunk = Buffer.alloc(mebibyte);
    await using server = await serve((_, response) => {
      response.writeHead(200, { "content-length": String(256 * mebibyte) });
      let left = 256;
      const more = () => {
        while (left > 0) {
          left -= 1;
          if (!response.write(chunk)) return;
        }
        response.end();
      };
      response.on("drain", more);
      more();
    });
    const memory = memoryWatch();
    let received = 0;
    const { stream } = await make(server).download(readFile, { params, query });
    for await (const bytes of stream) {
      received += bytes.byteLength;
      memory.at(received);
    }
    expect(received).toBe(256 * mebibyte);
    expect(memory.result().steps).toBe(8);
    expect(memory.result().growthBytes).toBeLessThan(96 * mebibyte);
  });
});
