import { parseCookie, stringifySetCookie } from "cookie";
import type { RequestHead, RequestOrigins } from "../http/request-origin.ts";

/** The prefix makes browsers refuse the cookie of another host, or without TLS. */
const secureName = "__Host-shoal_console";
/** For http on this machine. */
const plainName = "shoal_console";

type Origins = Pick<RequestOrigins, "baseUrlOf">;

export function isSecure(request: RequestHead, origins: Origins): boolean {
  return origins.baseUrlOf(request).startsWith("https://");
}

/** Returns the token of the console's session. */
export function sessionCookieIn(request: RequestHead, origins: Origins): string | undefined {
  const { cookie } = request.headers;
  if (cookie === undefined) return undefined;
  const value = parseCookie(cookie)[isSecure(request, origins) ? secureName : plainName];
  return value === "" ? undefined : value;
}

/** @param token - `undefined` deletes the cookie. */
export function sessionCookie(token: string | undefined, maxAgeSeconds: number, secure: boolean): string {
  return stringifySetCookie({
    name: secure ? secureName : plainName,
    value: token ?? "",
    httpOnly: true,
    maxAge: token === undefined ? 0 : maxAgeSeconds,
    path: "/",
    sameSite: "strict",
    secure,
  });
}
