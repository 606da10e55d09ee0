import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

const allowed = /^[A-Za-z0-9._-]{1,64}$/;

let pool = "";
let used = 0;

/** The caller's `X-Request-Id` where it is 1 to 64 letters, digits, dots, underscores and hyphens; a new one otherwise. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers["x-request-id"];
  if (typeof given === "string" && allowed.test(given)) return given;
  // Random bytes cost a call into the crypto library; one call serves 64 ids.
  if (used >= pool.length) {
    pool = randomBytes(64 * 12).toString("hex");
    used = 0;
  }
  return pool.slice(used, (used += 24));
}
