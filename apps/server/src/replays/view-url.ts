import type { Secrets } from "../secrets.ts";

/** No session has such an id, so a token of this opens one recording and nothing else. */
function subjectOf(sessionId: string, replayId: string): string {
  return `${sessionId}/replays/${replayId}`;
}

/**
 * An address that plays a recording for whoever has it, as long as the recording is kept.
 *
 * @param address - of the session: `http://127.0.0.1:7777/browsers/{id}`.
 */
export async function replayViewUrl(secrets: Secrets, address: string, replayId: string): Promise<string> {
  const sessionId = address.slice(address.lastIndexOf("/") + 1);
  return `${address}/replays/${replayId}?jwt=${await secrets.signSession(subjectOf(sessionId, replayId))}`;
}

/** Whether a token is that of {@link replayViewUrl} for the recording that a path names. */
export async function opensReplay(secrets: Secrets, token: string, params: unknown): Promise<boolean> {
  // Fastify types them unknown; its router makes strings.
  const { id = "", replay_id = "" } = params as Readonly<Record<string, string>>;
  return (await secrets.verifySession(token)) === subjectOf(id, replay_id);
}
