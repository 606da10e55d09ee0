import { exceededJsonBound, type JsonBounds } from "@shoal/primitives";
import { readAtMost } from "@shoal/primitives/node";
import { ServiceError } from "@shoal/router";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { OutgoingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";

/** A tool writes at most 2,000,000 characters. */
const maxBodyBytes = 4 * 2 ** 20;
/** As of other JSON bodies. */
const bounds: JsonBounds = { values: 50_000, depth: 200 };

/** Its signal aborts when the client is gone. @throws {ServiceError} 413 `payload_too_large`, or 400 for a deep message. */
export async function webRequestOf({ raw }: FastifyRequest, { raw: response }: FastifyReply): Promise<Request> {
  const gone = new AbortController();
  response.on("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  return new Request("http://127.0.0.1/mcp", {
    method: raw.method ?? "GET",
    headers,
    signal: gone.signal,
    ...(raw.method === "POST" && { body: await bodyOf(raw) }),
  });
}

async function bodyOf(raw: FastifyRequest["raw"]): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await readAtMost(raw, maxBodyBytes);
  if (bytes === undefined)
    throw new ServiceError(413, "payload_too_large", `The message is larger than ${String(maxBodyBytes)} bytes.`, {
      limit: maxBodyBytes,
      hint: "Write large files with browsers.fs.writeFile.",
    });
  const exceeded = exceededJsonBound(bytes, bounds);
  if (exceeded === "values")
    throw new ServiceError(413, "payload_too_large", `The message has more than ${String(bounds.values)} values.`, {
      limit: bounds.values,
      hint: "Send less in one message.",
    });
  if (exceeded === "depth")
    throw new ServiceError(400, "bad_request", `The message is nested more than ${String(bounds.depth)} levels deep.`, {
      limit: bounds.depth,
    });
  return new Uint8Array(bytes);
}

/** Sends the head at once, because clients wait for it before the first event. */
export async function sendWebResponse(reply: FastifyReply, response: Response): Promise<void> {
  const { raw } = reply;
  reply.hijack();
  const head: OutgoingHttpHeaders = Object.fromEntries(
    Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined),
  );
  for (const [name, value] of response.headers) head[name] = value;
  // Headers passed to writeHead cannot be read back, and `getHeader("content-type")` identifies event streams.
  const type = response.headers.get("content-type");
  if (type !== null) raw.setHeader("content-type", type);
  raw.writeHead(response.status, head);
  if (response.body === null) {
    raw.end();
    return;
  }
  raw.flushHeaders();
  const body = Readable.fromWeb(response.body as NodeReadableStream<Uint8Array>);
  // A client may leave at any time; the pipeline then cancels the body.
  await pipeline(body, raw).catch(() => undefined);
}
