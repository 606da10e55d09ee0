import { ServiceError } from "@shoal/router";
import type { Secrets } from "../secrets.ts";

/** The session token in an address, in the place of a key: `?jwt=…`. */
export function sessionTokenIn(url: string): string | undefined {
  const question = url.indexOf("?");
  return question === -1 ? undefined : (new URLSearchParams(url.slice(question)).get("jwt") ?? undefined);
}

/** The address without its token, which no operation knows; all else byte for byte. */
export function withoutSessionToken(url: string): string {
  const question = url.indexOf("?");
  if (question === -1) return url;
  const kept = url
    .slice(question + 1)
    .split("&")
    .filter((part) => !/^jwt(=|$)/.test(part));
  return url.slice(0, question) + (kept.length === 0 ? "" : `?${kept.join("&")}`);
}

/** @throws {ServiceError} 401 when the token does not open this session. */
export async function requireSessionToken(secrets: Secrets, token: string, sessionId: string): Promise<void> {
  if ((await secrets.verifySession(token)) === sessionId) return;
  throw new ServiceError(
    401,
    "unauthorized",
    `The address carries no valid token for browser ${sessionId}. Take base_url and the jwt of cdp_ws_url as browsers.create or browsers.get returned them; both take the session's id, not its name.`,
  );
}
