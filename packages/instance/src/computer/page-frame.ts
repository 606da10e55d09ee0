import type { PageSession } from "./page-session.ts";

const frameWaitMs = 3_000;

/**
 * The page as it was drawn last, as PNG. The browser's compositor keeps it, so it can be had while the page itself stands still under a
 * dialog or a busy script.
 *
 * @returns `undefined` when none came in time.
 */
export async function captureFrame({ cdp, sessionId }: PageSession): Promise<Buffer | undefined> {
  const frame = Promise.withResolvers<Buffer | undefined>();
  const timer = setTimeout(frame.resolve, frameWaitMs, undefined);
  const stop = cdp.on("Page.screencastFrame", ({ data }, from) => {
    if (from === sessionId) frame.resolve(Buffer.from(data, "base64"));
  });
  try {
    await cdp.send("Page.startScreencast", { format: "png", everyNthFrame: 1 }, sessionId);
    return await frame.promise;
  } finally {
    clearTimeout(timer);
    stop();
    cdp.send("Page.stopScreencast", undefined, sessionId).catch(() => undefined);
  }
}
