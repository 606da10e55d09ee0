import { messageOf } from "@shoal/primitives";
import type { Protocol } from "devtools-protocol";
import { type CdpConnection, CdpError } from "../cdp/cdp-connection.ts";

const maxErrorLength = 300;

/**
 * Sends commands to each page, frame and worker before its first script. Resolves when the open ones have them; ends with
 * the connection. @param onFailed - called with the type of an open target that refused one, or whose script failed.
 */
export async function prepareTargets(
  cdp: CdpConnection,
  prepare: (sessionId: string, type: string) => readonly Promise<unknown>[],
  onFailed?: (type: string, error: string) => void,
): Promise<void> {
  const open: Promise<unknown>[] = [];
  let isFollowing = false;
  // A separate session: a session's auto-attach filter can be set only once.
  const { sessionId: root } = await cdp.send("Target.attachToBrowserTarget");
  /** With a callback for their end: commands to a closing page are never answered. */
  const sessions = new Map<string, () => void>([[root, () => undefined]]);

  const attach = (sessionId: string) =>
    cdp.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }, sessionId);

  cdp.on("Target.attachedToTarget", ({ sessionId, targetInfo }, parent) => {
    if (parent === undefined || !sessions.has(parent)) return;
    const gone = Promise.withResolvers<void>();
    sessions.set(sessionId, gone.resolve);
    // Not sequential: a worker that has not started answers only some of them.
    const prepared = prepare(sessionId, targetInfo.type);
    for (const each of prepared)
      void failureOf(each).then((error) => {
        // Targets that close meanwhile are usual.
        if (error !== undefined && sessions.has(sessionId)) onFailed?.(targetInfo.type, error);
      });
    const done = Promise.allSettled([
      ...prepared,
      attach(sessionId),
      cdp.send("Runtime.runIfWaitingForDebugger", undefined, sessionId),
    ]);
    if (!isFollowing) open.push(Promise.race([done, gone.promise]));
  });
  cdp.on("Target.detachedFromTarget", ({ sessionId }) => {
    sessions.get(sessionId)?.();
    sessions.delete(sessionId);
  });
  await attach(root);
  await Promise.all(open);
  isFollowing = true;
}

/** Of a command; `Runtime.evaluate` answers also if the script failed. */
async function failureOf(command: Promise<unknown>): Promise<string | undefined> {
  try {
    const answer = await command;
    if (typeof answer !== "object" || answer === null || !("exceptionDetails" in answer)) return undefined;
    const { exception, text } = answer.exceptionDetails as Protocol.Runtime.ExceptionDetails;
    return (exception?.description ?? text).slice(0, maxErrorLength);
  } catch (error) {
    return error instanceof CdpError && isGone(error) ? undefined : messageOf(error).slice(0, maxErrorLength);
  }
}

/** Whether the target has gone: with its browser, with its session, or because another document took its place. */
function isGone({ code, message }: CdpError): boolean {
  return code === undefined || code === -32_001 || message.includes("navigated or closed");
}
