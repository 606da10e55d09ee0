import { exceededJsonBound, type JsonBounds } from "@shoal/primitives";
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { ClientGone } from "./guarded-stream.ts";
import { ServiceError } from "../handler/service-error.ts";

/** Default maximum of a JSON body, and of all text fields of a multipart body. */
export const defaultBodyLimitBytes = 1024 * 1024;

/** Within these bounds, parsing and validation take a few milliseconds. */
const bodyBounds: JsonBounds = { values: 50_000, depth: 200 };
/** Smaller bodies cannot exceed the bounds by much. */
const smallBodyBytes = 1024;

/** Per operation, from reading to answer. */
const maxLargeBodies = 8;

/** A place among the large bodies. */
export interface LargeBodyPlace {
  /**
   * Counts received bytes, so that announcing a large body reserves nothing. @throws {ServiceError} 503 `overloaded`.
   */
  take(sizeBytes: number): void;
  leave(): void;
}

/**
 * Bounds the memory of an operation's large bodies. @param fromBytes - the usual limit, above which a body is large.
 */
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
              `The server holds ${held} bodies of more than ${fromBytes} bytes for this operation already, the limit.`,
              { hint: "Send the request again in a moment.", retryAfterSeconds: 1 },
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
 * @param rules - `optional`: an absent body and `null` count as `{}`. `place`: counts the body's size.
 * @throws {ServiceError} 415 for another content type; 413 above `limitBytes` or with too many values; 400 for an
 * absent, malformed or too deeply nested body; and errors of `place`.
 */
export async function readJson(request: IncomingMessage, { limitBytes, optional, place }: JsonRules): Promise<unknown> {
  if (!hasBody(request)) {
    if (optional) return {};
    throw new ServiceError(400, "bad_request", "required (expected a JSON object)", { field: "body" });
  }
  checkJsonType(request);
  const bytes = await readBody(request, limitBytes, place);
  if (bytes.length === 0 && optional) return {};
  if (!isUtf8(bytes)) throw new ServiceError(400, "bad_request", "not valid UTF-8", { field: "body" });
  if (bytes.length > smallBodyBytes) checkBounds(bytes);
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw new ServiceError(400, "bad_request", `not valid JSON${bytes.length === 0 ? " (it is empty)" : ""}`, {
      cause: error,
      field: "body",
    });
  }
  return value === null && optional ? {} : value;
}

function checkBounds(bytes: Buffer): void {
  const exceeded = exceededJsonBound(bytes, bodyBounds);
  if (exceeded === "values")
    throw new ServiceError(
      413,
      "payload_too_large",
      `has more than ${bodyBounds.values} values (fields and array items at any depth)`,
      { field: "body", limit: bodyBounds.values, hint: "Send less in one request." },
    );
  if (exceeded === "depth")
    throw new ServiceError(400, "bad_request", `is nested more than ${bodyBounds.depth} levels deep`, {
      field: "body",
      limit: bodyBounds.depth,
    });
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
      throw unsupported(
        `Send the body with Content-Type: application/json${media === "" ? "" : `, not ${media.slice(0, 100)}`}.`,
      );
    if (charset !== undefined && charset !== "utf-8" && charset !== "utf8" && charset !== "us-ascii")
      throw unsupported(`Send the body in UTF-8, not ${charset.slice(0, 100)}.`);
  }
  refuseEncoding(request);
}

/** Refuses compressed bodies: their size cannot be bounded. */
export function refuseEncoding(request: IncomingMessage): void {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding.toLowerCase() !== "identity")
    throw unsupported(`Send the body without Content-Encoding (it says ${encoding.slice(0, 100)}).`);
}

export function unsupported(message: string): ServiceError {
  return new ServiceError(415, "unsupported_media_type", message);
}

export function tooLarge(limitBytes: number, what = ""): ServiceError {
  return new ServiceError(413, "payload_too_large", `${what}larger than the limit of ${limitBytes} bytes`, {
    field: "body",
    limit: limitBytes,
  });
}

/**
 * Reads a whole body. It reads the rest of a body that is too large, so that a client that is still sending receives the answer.
 * @throws {ServiceError} 413
 */
export async function readBody(request: IncomingMessage, limitBytes: number, place?: LargeBodyPlace): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > limitBytes) throw tooLarge(limitBytes);
  if (request.destroyed && !request.readableEnded) throw new ClientGone();
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let size = 0;
    let refused = false;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (refused) return;
      try {
        if (size > limitBytes) throw tooLarge(limitBytes);
        place?.take(size);
        chunks.push(chunk);
      } catch (error) {
        refused = true;
        chunks = [];
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what `take` throws
        reject(error);
      }
    });
    request.on("end", () => {
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
    });
    // Node reports an aborted request with one or both events.
    const onGone = (): void => {
      if (!request.readableEnded) reject(new ClientGone());
    };
    request.on("error", onGone);
    request.on("close", onGone);
  });
}
