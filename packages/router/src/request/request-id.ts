import type { IncomingHttpHeaders } from "node:http";

const allowed = /^[A-Za-z0-9._-]{1,64}$/;

/** The caller's `X-Request-Id` if it is 1 to 64 letters, digits, dots, underscores and hyphens; otherwise a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && allowed.test(given) ? given : half() + half();
}

/** 48 random bits. An id is not a secret, so `node:crypto` need not be loaded. */
function half(): string {
  return Math.floor(Math.random() * 2 ** 48)
    .toString(16)
    .padStart(12, "0");
}
