import type { ErrorBody } from "@shoal/schemas";
import { STATUS_CODES, type OutgoingHttpHeaders } from "node:http";
import type { Duplex } from "node:stream";
import type { TextReply } from "./reply.ts";
import { ServiceError } from "../handler/service-error.ts";

export const jsonHeaders: OutgoingHttpHeaders = { "content-type": "application/json; charset=utf-8" };

/** An error other than {@link ServiceError} becomes a 500 that hides its cause. */
export function errorReply(error: unknown, requestId: string): TextReply {
  const known = ServiceError.isInstance(error)
    ? error
    : new ServiceError(500, "internal_error", "The service failed on this request.", {
        hint: `Its operator finds the cause in the log under request id ${requestId}.`,
      });
  const headers: OutgoingHttpHeaders = { ...jsonHeaders };
  if (known.retryAfterSeconds !== undefined)
    headers["retry-after"] = String(Math.max(0, Math.ceil(known.retryAfterSeconds)));
  if (known.status === 401) headers["www-authenticate"] = "Bearer";
  // Some clients retry every 409 and 5xx. A temporary conflict has Retry-After; a 501 never succeeds on a retry, and work
  // with an unknown outcome may have been done.
  if (isNeverRetried(known)) headers["x-should-retry"] = "false";
  return { kind: "text", status: known.status, headers, text: JSON.stringify(known.toBody()) };
}

function isNeverRetried({ code, retryAfterSeconds, status }: ServiceError): boolean {
  return status === 501 || code === "outcome_unknown" || (status === 409 && retryAfterSeconds === undefined);
}

/** Whether an error is a fault of the service, to be logged. */
export function isFault(error: unknown): boolean {
  return !ServiceError.isInstance(error) || error.status === 500;
}

/** 404, or 405 with `Allow` if the path has other methods. */
export function unknownRoute(method: string, path: string, allowed: readonly string[]): TextReply {
  const shown = path.slice(0, 200);
  if (allowed.length === 0)
    return errorReply(new ServiceError(404, "not_found", `Unknown path: ${method} ${shown}.`), "");
  const reply = errorReply(
    new ServiceError(
      405,
      "method_not_allowed",
      `${method} is not possible on ${shown}; it takes ${allowed.join(", ")}.`,
    ),
    "",
  );
  return { ...reply, headers: { ...reply.headers, allow: allowed.join(", ") } };
}

export function malformedPath(): TextReply {
  return errorReply(new ServiceError(400, "bad_request", "malformed percent-encoding", { field: "path" }), "");
}

/**
 * Answers bytes that are not an HTTP request (a server's `clientError`) with an error body, and closes the connection.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex, requestId: string): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy(error);
    return;
  }
  const [status, body] = clientErrorBody(error);
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\nX-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${text}`,
    () => {
      socket.destroy();
    },
  );
}

function clientErrorBody(error: NodeJS.ErrnoException): [number, ErrorBody] {
  switch (error.code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return [408, { code: "bad_request", message: "The request did not arrive in time." }];
    case "HPE_HEADER_OVERFLOW":
      return [431, { code: "bad_request", message: "The request's headers are too large." }];
    default:
      return [400, { code: "bad_request", message: "This is not a valid HTTP request." }];
  }
}
