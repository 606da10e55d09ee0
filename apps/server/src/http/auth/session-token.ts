import { ServiceError } from "@shoal/router";
import type { IssuingKeys } from "./issuing-keys.ts";
import type { Secrets } from "../../storage/secrets.ts";

export function sessionTokenIn(url: string): string | undefined {
  const question = url.indexOf("?");
  return question === -1 ? undefined : (new URLSearchParams(url.slice(question)).get("jwt") ?? undefined);
}

export function withoutSessionToken(url: string): string {
  const question = url.indexOf("?");
  if (question === -1) return url;
  const kept = url
    .slice(question + 1)
    .split("&")
    .filter((part) => !/^jwt(=|$)/.test(part));
  return url.slice(0, question) + (kept.length === 0 ? "" : `?${kept.join("&")}`);
}

/** `/fs/read_file?path=%2Fa` of `/browsers/k3f9/fs/read_file?path=%2Fa`, byte for byte. */
export function pathInside(url: string): string {
  return withoutSessionToken(url.replace(/^\/browsers\/[^/?]+/, ""));
}

export interface SessionTokenChecks {
  readonly secrets: Pick<Secrets, "verifySession">;
  readonly issuingKeys: IssuingKeys;
}

/**
 * @returns the id of the key that the token was issued to. @throws {ServiceError} 401 for another session or an invalid
 * key.
 */
export async function requireSessionToken(
  { secrets, issuingKeys }: SessionTokenChecks,
  token: string,
  sessionId: string,
): Promise<string> {
  const opened = await secrets.verifySession(token);
  if (opened?.sessionId === sessionId) {
    await issuingKeys.require(opened.keyId);
    return opened.keyId;
  }
  throw new ServiceError(401, "unauthorized", `The address carries no valid token for browser ${sessionId}.`, {
    hint: "Take base_url and the jwt of cdp_ws_url as browsers.create or browsers.get returned them; both take the session's id, not its name.",
  });
}
