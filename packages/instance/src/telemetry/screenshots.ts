import type { CdpConnection } from "../cdp/pipe-connection.ts";
import { attachToPage, findVisiblePage } from "../pages/visible-page.ts";
import type { TelemetryRecorder } from "./recorder.ts";

/** Between two pictures. */
const everyMs = 5_000;
/** A page that cannot be painted by then is left out. */
const patienceMs = 10_000;
/** Base64 characters; a larger picture is left out and told of as cut. */
const maxCharacters = 6 * 2 ** 20;

/**
 * Takes a picture of the visible page at once and every five seconds.
 *
 * @returns stops that.
 */
export function takeScreenshots(cdp: CdpConnection, recorder: TelemetryRecorder): () => void {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  async function take(): Promise<void> {
    try {
      const png = await picture(cdp);
      if (png !== undefined && !isTrue(stopped)) {
        const tooLarge = png.length > maxCharacters;
        recorder.record({
          type: "monitor_screenshot",
          category: "screenshot",
          source: { kind: "cdp", event: "Page.captureScreenshot" },
          data: tooLarge ? {} : { png },
          ...(tooLarge && { truncated: true }),
        });
      }
    } catch {
      // The page, or the browser, went away meanwhile.
    }
    if (!isTrue(stopped)) timer = setTimeout(() => void take(), everyMs).unref();
  }

  void take();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

async function picture(cdp: CdpConnection): Promise<string | undefined> {
  const targetId = await findVisiblePage(cdp);
  if (targetId === undefined) return undefined;
  await using page = await attachToPage(cdp, targetId);
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(late.resolve, patienceMs, undefined);
  try {
    const taken = await Promise.race([cdp.send("Page.captureScreenshot", { format: "png", optimizeForSpeed: true }, page.sessionId), late.promise]);
    return taken?.data;
  } finally {
    clearTimeout(timer);
  }
}

/** As a function, for the compiler takes what it saw before an `await` for what holds after it. */
function isTrue(value: boolean): boolean {
  return value;
}
