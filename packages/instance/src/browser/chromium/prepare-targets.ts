import type { CdpConnection } from "../cdp/cdp-connection.ts";

/**
 * Sends commands to each page, frame and worker before its first script. Resolves when the open ones have them; ends with
 * the connection.
 */
export async function prepareTargets(
  cdp: CdpConnection,
  prepare: (sessionId: string, type: string) => readonly Promise<unknown>[],
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
    const done = Promise.allSettled([
      ...prepare(sessionId, targetInfo.type),
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
