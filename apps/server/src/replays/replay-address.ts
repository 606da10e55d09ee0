import { ServiceError } from "@shoal/router";
import type { Secrets } from "../secrets.ts";

const use = "recording";
const pattern = /^((\w{1,64})\.([0-9a-f]{24}))\.([\w-]{43})$/;

/** Makes and reads addresses that play a recording for whoever has them, as long as it is kept. */
export interface ReplayAddresses {
  /** @param baseUrl - where the client reaches the service. */
  of(sessionId: string, replayId: string, baseUrl: string): string;
  /** @throws {ServiceError} 401 for a token that is none. */
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
        throw new ServiceError(401, "unauthorized", "This is no address of a recording. Take replay_view_url as browsers.replays.list returned it.");
      return { sessionId, replayId };
    },
  };
}
