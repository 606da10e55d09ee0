import { ServiceError } from "@shoal/router";
import type { Secrets } from "../../storage/secrets.ts";

const use = "recording";
const pattern = /^((\w{1,64})\.([0-9a-f]{24}))\.([\w-]{43})$/;

/** Anyone with the URL can play the recording until retention deletes it. */
export interface ReplayAddresses {
  of(sessionId: string, replayId: string, baseUrl: string): string;
  /** @throws {ServiceError} 401 for an invalid token. */
  open(token: string): { readonly sessionId: string; readonly replayId: string };
}

export function createReplayAddresses(secrets: Pick<Secrets, "sign" | "hasSigned">): ReplayAddresses {
  return {
    of(sessionId, replayId, baseUrl) {
      const text = `${sessionId}.${replayId}`;
      return `${baseUrl}/browser/replay/${text}.${secrets.sign(use, text)}`;
    },
    open(token) {
      const [, text = "", sessionId = "", replayId = "", signature = ""] = pattern.exec(token) ?? [];
      if (!secrets.hasSigned(use, text, signature))
        throw new ServiceError(401, "unauthorized", "This recording URL is invalid.", {
          hint: "Use replay_view_url as returned by browsers.replays.list.",
        });
      return { sessionId, replayId };
    },
  };
}
