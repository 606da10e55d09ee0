import pTimeout from "p-timeout";
import type { PageSession } from "./page-session.ts";

/** Longest wait for the compositor, in milliseconds. */
const frameWaitMs = 3_000;

export interface FrameFormat {
  readonly format: "png" | "jpeg";
  /** For `jpeg`, 1 to 100. */
  readonly quality?: number;
  /** In pixels. */
  readonly maxWidth?: number | undefined;
}

/** Works also while a dialog or busy script blocks the page. Returns `undefined` if late. */
export async function captureFrame(
  session: PageSession,
  { format, maxWidth, quality }: FrameFormat = { format: "png" },
): Promise<Buffer | undefined> {
  const { cdp, sessionId } = session;
  const frame = Promise.withResolvers<Buffer>();
  const stop = cdp.on("Page.screencastFrame", ({ data }, from) => {
    if (from === sessionId) frame.resolve(Buffer.from(data, "base64"));
  });
  try {
    await cdp.send(
      "Page.startScreencast",
      {
        format,
        everyNthFrame: 1,
        ...(quality !== undefined && { quality }),
        ...(maxWidth !== undefined && { maxWidth }),
      },
      sessionId,
    );
    const captured = Promise.race([frame.promise, session.end]);
    return await pTimeout(captured, { milliseconds: frameWaitMs, message: false });
  } catch (error) {
    if (session.ended) return undefined;
    throw error;
  } finally {
    stop();
    cdp.send("Page.stopScreencast", undefined, sessionId).catch(() => undefined);
  }
}
