import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { ClientGone } from "./guarded-stream.ts";
import { ServiceError } from "./service-error.ts";

/** Largest JSON body, and largest sum of the text fields of a multipart body, where the program does not say. */
export const defaultBodyLimitBytes = 1024 * 1024;

/** Whether a request announces a body. */
function hasBody(request: IncomingMessage): boolean {
  const { headers } = request;
  if (headers["transfer-encoding"] !== undefined) return true;
  return headers["content-length"] !== undefined && headers["content-length"] !== "0";
}

/**
 * Reads and parses a JSON body.
 *
 * @param optional - an absent body, and the text `null`, count as `{}`.
 * @throws {ServiceError} 415 for another content type, 413 above `limitBytes`, 400 for an absent or malformed one.
 */
export async function readJson(request: IncomingMessage, optional: boolean, limitBytes: number): Promise<unknown> {
  if (!hasBody(request)) {
    if (optional) return {};
    throw new ServiceError(400, "bad_request", "body: required (expected a JSON object)");
  }
  checkJsonType(request);
  const bytes = await readAll(request, limitBytes);
  if (bytes.length === 0 && optional) return {};
  if (!isUtf8(bytes)) throw new ServiceError(400, "bad_request", "body: not valid UTF-8");
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw new ServiceError(400, "bad_request", `body: not valid JSON${bytes.length === 0 ? " (it is empty)" : ""}`, { cause: error });
  }
  return value === null && optional ? {} : value;
}

function checkJsonType(request: IncomingMessage): void {
  const type = request.headers["content-type"] ?? "";
  if (type !== "application/json") {
    const [media = "", ...parameters] = type.split(";").map((part) => part.trim().toLowerCase());
    const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice("charset=".length).replaceAll('"', "");
    if (!/^application\/(?:[\w.-]+\+)?json$/.test(media)) throw unsupported(`Send the body with Content-Type: application/json${media === "" ? "" : `, not ${media.slice(0, 100)}`}.`);
    if (charset !== undefined && charset !== "utf-8" && charset !== "utf8" && charset !== "us-ascii") throw unsupported(`Send the body in UTF-8, not ${charset.slice(0, 100)}.`);
  }
  refuseEncoding(request);
}

/** Compressed bodies are not taken: their size could not be bounded. */
export function refuseEncoding(request: IncomingMessage): void {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity") throw unsupported(`Send the body without Content-Encoding (it says ${encoding.slice(0, 100)}).`);
}

/** 415 with a message that says what to send. */
export function unsupported(message: string): ServiceError {
  return new ServiceError(415, "unsupported_media_type", message);
}

/** 413 that names the limit. */
export function tooLarge(what: string, limitBytes: number): ServiceError {
  return new ServiceError(413, "payload_too_large", `${what} is larger than ${limitBytes} bytes, the most that is taken.`);
}

function readAll(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > limitBytes) return Promise.reject(tooLarge("The body", limitBytes));
  if (request.destroyed && !request.readableEnded) return Promise.reject(new ClientGone());
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      // What is above the limit is read and thrown away, so that the answer reaches a client that is still sending.
      if (size <= limitBytes) chunks.push(chunk);
      else {
        chunks = [];
        reject(tooLarge("The body", limitBytes));
      }
    });
    request.on("end", () => {
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    });
    // Of a request that breaks off Node says so in one or both ways.
    const onGone = (): void => {
      if (!request.readableEnded) reject(new ClientGone());
    };
    request.on("error", onGone);
    request.on("close", onGone);
  });
}
