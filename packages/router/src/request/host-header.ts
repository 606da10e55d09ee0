import type { IncomingMessage } from "node:http";
import { ServiceError } from "../handler/service-error.ts";

function hostCount({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

/**
 * Two Host headers could be read differently by a proxy and a server. @throws {ServiceError} 400 for several, and for
 * none in HTTP/1.1.
 * @see {@link https://www.rfc-editor.org/rfc/rfc9112#section-3.2 | RFC 9112, 3.2}
 */
export function refuseAmbiguousHost(request: IncomingMessage): void {
  const count = hostCount(request);
  if (count > 1)
    throw new ServiceError(400, "bad_request", "The request has several Host headers.", {
      hint: "Send exactly one (RFC 9112, 3.2).",
    });
  if (count === 0 && request.httpVersion === "1.1")
    throw new ServiceError(
      400,
      "bad_request",
      "The request has no Host header, which HTTP/1.1 demands (RFC 9112, 3.2).",
    );
}
