import { ServiceError } from "@shoal/router";
import type { IssuingKeys } from "./issuing-keys.ts";
import type { Secrets } from "../../storage/secrets.ts";

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
