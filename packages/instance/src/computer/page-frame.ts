import type { PageSession } from "./page-session.ts";

/** How long the compositor may take for it, in milliseconds. */
const frameWaitMs = 3_000;

/**
 * The page as it was drawn last, as PNG. The browser's compositor keeps it, so it can be had while the page itself stands still under a
 * dialog or a busy script.
 *
 * @returns `undefined` when none came in time.
 */
export async function captureFrame(session: PageSession): Promise<Buffer | undefined> {
  const { cdp, sessionId } = session;
  const frame = Promise.withResolvers<Buffer>();
  const stop = cdp.on("Page.screencastFrame", ({ data }, from) => {
    if (from === sessionId) frame.resolve(Buffer.from(data, "base64"));
  });
  const timeout = Promise.withResolvers<undefined>();
  const timer = setTimeout(timeout.resolve, frameWaitMs, undefined);
  try {
    await cdp.send("Page.startScreencast", { format: "png", everyNthFrame: 1 }, sessionId);
    return await Promise.race([frame.promise, session.end, timeout.promise]);
  } catch (error) {
    if (session.ended) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
    stop();
    cdp.send("Page.stopScreencast", undefined, sessionId).catch(() => undefined);
  }
}
