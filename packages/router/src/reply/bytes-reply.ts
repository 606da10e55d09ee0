import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import type { BytesReply } from "../handler/handler.ts";

/**
 * Waits until a stream is readable or ends, so that an earlier error can still become an error response. Destroys the
 * stream when the connection closes. @throws the stream's error.
 */
export function whenReadable(stream: Readable, response: ServerResponse): Promise<void> {
  // Prevents an uncaught error until the answer is piped.
  stream.on("error", () => undefined);
  if (response.destroyed) stream.destroy();
  response.on("close", () => {
    stream.destroy();
  });
  return new Promise((resolve, reject) => {
    if (stream.errored instanceof Error) {
      reject(stream.errored);
      return;
    }
    if (stream.destroyed && !response.destroyed) {
      reject(new Error("The stream of an answer was destroyed before it could be sent."));
      return;
    }
    if (stream.readableLength > 0 || stream.readableEnded || stream.destroyed) {
      resolve();
      return;
    }
    const settle = (error?: Error): void => {
      stream.off("readable", onReady).off("end", onReady).off("close", onReady).off("error", settle);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onReady = (): void => {
      settle();
    };
    stream.on("readable", onReady).on("end", onReady).on("close", onReady).on("error", settle);
  });
}

/** `attachment` with the name in both forms of RFC 6266: ASCII and UTF-8. */
export function contentDisposition(fileName: string): string {
  const plain = fileName.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  if (plain === fileName) return `attachment; filename="${plain}"`;
  const encoded = encodeURIComponent(fileName.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}

/**
 * Pipes a stream into an answer. A failure destroys the connection, so that no client mistakes a part for the whole.
 */
export function sendBytes(
  response: ServerResponse,
  reply: { readonly status: number; readonly headers: OutgoingHttpHeaders; readonly bytes: BytesReply },
  report: (error: unknown) => void,
): void {
  const { sizeBytes, stream, trailers } = reply.bytes;
  let sent = 0;
  response.on("error", () => undefined);
  response.writeHead(reply.status, reply.headers);
  if (response.req.method === "HEAD") {
    response.end();
    stream.destroy();
    return;
  }
  stream.on("error", (error) => {
    if (!response.destroyed) report(error);
    response.destroy();
  });
  stream.on("close", () => {
    if (!response.writableEnded) response.destroy();
  });
  stream.on("end", () => {
    if (sizeBytes === undefined || sent === sizeBytes) {
      if (trailers !== undefined) response.addTrailers(trailers());
      response.end();
    } else {
      if (!response.destroyed) report(new Error(`A stream announced as ${sizeBytes} bytes ended after ${sent}.`));
      response.destroy();
    }
  });
  response.on("drain", () => {
    stream.resume();
  });
  stream.on("data", (chunk: Buffer | string) => {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    // A file may grow while it is read. Bytes beyond the announced size would corrupt the next answer.
    const fitting =
      sizeBytes !== undefined && sent + bytes.length > sizeBytes ? bytes.subarray(0, sizeBytes - sent) : bytes;
    sent += fitting.length;
    if (!response.write(fitting)) stream.pause();
    if (fitting.length < bytes.length) {
      response.end();
      stream.destroy();
    }
  });
  // It may have ended or been destroyed before the listeners were added.
  if (stream.readableEnded) stream.emit("end");
  else if (stream.destroyed) response.destroy();
  else stream.resume();
}
