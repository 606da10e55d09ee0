import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { ClientGone } from "./guarded-stream.ts";
import { exceededJsonBound, type JsonBounds } from "./json-bounds.ts";
import { ServiceError } from "./service-error.ts";

/** Largest JSON body, and largest sum of the text fields of a multipart body, where the program does not say. */
export const defaultBodyLimitBytes = 1024 * 1024;

/** The most structure that a JSON body may have. What is within it is parsed and checked in some milliseconds. */
const bodyBounds: JsonBounds = { values: 50_000, depth: 200 };
/** A body of so many bytes cannot exceed the bounds by much. */
const smallBodyBytes = 1024;

/** How many bodies above the usual limit one operation holds at once, each from its reading to its answer. */
const maxLargeBodies = 8;

/** What one request may hold of the memory for large bodies. */
export interface LargeBodyPlace {
  /** Told how many bytes have come: who only announces a large body keeps nobody else from sending one. @throws {ServiceError} 503 `overloaded` where that is a large body and enough of them are held. */
  take(sizeBytes: number): void;
  leave(): void;
}

/** Bounds how much memory the large bodies of an operation take together: limits of bodies are chosen with the usual ones in mind, which come by the thousand. @param fromBytes - the usual limit. */
export function createLargeBodies(fromBytes: number): { place(): LargeBodyPlace } {
  let held = 0;
  return {
    place() {
      let isHeld = false;
      return {
        take(sizeBytes) {
          if (isHeld || sizeBytes <= fromBytes) return;
          if (held >= maxLargeBodies)
            throw new ServiceError(
              503,
              "overloaded",
              `The server holds ${held} bodies of more than ${fromBytes} bytes for this operation already, as many as it takes at once. Send the request again in a moment.`,
              { retryAfterSeconds: 1 },
            );
          held += 1;
          isHeld = true;
        },
        leave() {
          if (isHeld) held -= 1;
          isHeld = false;
        },
      };
    },
  };
}

/** Whether a request announces a body. */
function hasBody(request: IncomingMessage): boolean {
  const { headers } = request;
  if (headers["transfer-encoding"] !== undefined) return true;
  return headers["content-length"] !== undefined && headers["content-length"] !== "0";
}

interface JsonRules {
  readonly optional: boolean;
  readonly limitBytes: number;
  readonly place?: LargeBodyPlace | undefined;
}

/**
 * Reads and parses a JSON body.
 *
 * @param rules - `optional`: an absent body, and the text `null`, count as `{}`. `place`: told of the body's size.
 * @throws {ServiceError} 415 for another content type, 413 above `limitBytes` or with too many values, 400 for an absent, malformed or too deeply nested one, and what `place` throws.
 */
export async function readJson(request: IncomingMessage, { limitBytes, optional, place }: JsonRules): Promise<unknown> {
  if (!hasBody(request)) {
    if (optional) return {};
    throw new ServiceError(400, "bad_request", "body: required (expected a JSON object)");
  }
  checkJsonType(request);
  const bytes = await readAll(request, limitBytes, place);
  if (bytes.length === 0 && optional) return {};
  if (!isUtf8(bytes)) throw new ServiceError(400, "bad_request", "body: not valid UTF-8");
  if (bytes.length > smallBodyBytes) checkBounds(bytes);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw new ServiceError(400, "bad_request", `body: not valid JSON${bytes.length === 0 ? " (it is empty)" : ""}`, { cause: error });
  }
  return value === null && optional ? {} : value;
}

/** @throws {ServiceError} 413 and 400. */
function checkBounds(bytes: Buffer): void {
  const exceeded = exceededJsonBound(bytes, bodyBounds);
  if (exceeded === "values")
    throw new ServiceError(
      413,
      "payload_too_large",
      `body: has more than ${bodyBounds.values} values (fields and array items, nested ones included), the most that is taken. Send less in one request.`,
    );
  if (exceeded === "depth")
    throw new ServiceError(400, "bad_request", `body: is nested more than ${bodyBounds.depth} levels deep, the most that is taken.`);
}

function checkJsonType(request: IncomingMessage): void {
  const type = request.headers["content-type"] ?? "";
  if (type !== "application/json") {
    const [media = "", ...parameters] = type.split(";").map((part) => part.trim().toLowerCase());
    const charset = parameters
      .find((parameter) => parameter.startsWith("charset="))
      ?.slice("charset=".length)
      .replaceAll('"', "");
    if (!/^application\/(?:[\w.-]+\+)?json$/.test(media))
      throw unsupported(`Send the body with Content-Type: application/json${media === "" ? "" : `, not ${media.slice(0, 100)}`}.`);
    if (charset !== undefined && charset !== "utf-8" && charset !== "utf8" && charset !== "us-ascii")
      throw unsupported(`Send the body in UTF-8, not ${charset.slice(0, 100)}.`);
  }
  refuseEncoding(request);
}

/** Compressed bodies are not taken: their size could not be bounded. */
export function refuseEncoding(request: IncomingMessage): void {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity")
    throw unsupported(`Send the body without Content-Encoding (it says ${encoding.slice(0, 100)}).`);
}

/** 415 with a message that says what to send. */
export function unsupported(message: string): ServiceError {
  return new ServiceError(415, "unsupported_media_type", message);
}

/** 413 that names the limit. */
export function tooLarge(what: string, limitBytes: number): ServiceError {
  return new ServiceError(413, "payload_too_large", `${what} is larger than ${limitBytes} bytes, the most that is taken.`);
}

async function readAll(request: IncomingMessage, limitBytes: number, place: LargeBodyPlace | undefined): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > limitBytes) throw tooLarge("The body", limitBytes);
  if (request.destroyed && !request.readableEnded) throw new ClientGone();
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let size = 0;
    let refused = false;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (refused) return;
      try {
        if (size > limitBytes) throw tooLarge("The body", limitBytes);
        place?.take(size);
        chunks.push(chunk);
      } catch (error) {
        // The rest is read and thrown away, so that the answer reaches a client that is still sending.
        refused = true;
        chunks = [];
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- what `take` throws
        reject(error);
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
