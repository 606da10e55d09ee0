import pTimeout from "p-timeout";
import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import { attachToPage, findVisiblePage } from "../../browser/pages/visible-page.ts";
import { isTrue } from "../../system/is-true.ts";
import { Cutter, maxUrlBytes } from "./cut.ts";
import type { TelemetryRecorder } from "./recorder.ts";

const everyMs = 5_000;
/** Longest time for a screenshot; a slower page is skipped. */
const patienceMs = 10_000;
/** Base64 characters; a larger picture is omitted and the event marked as truncated. */
const maxCharacters = 6 * 2 ** 20;

/** The end of the session waits for the picture. */
const endPatienceMs = 3_000;
/** Of a JPEG file. */
const maxBytes = 2 ** 20;
/** Tried in this order. */
const qualities = [70, 30];

/** Takes one now and every five seconds. Returns a function that stops. */
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
      // The page or the browser has ended.
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
  const taken = await pTimeout(
    cdp.send("Page.captureScreenshot", { format: "png", optimizeForSpeed: true }, page.sessionId),
    { milliseconds: patienceMs, message: false },
  );
  return taken?.data;
}

/** Records what the front page shows, unless the page is empty, too slow, or its picture too large. Never rejects. */
export async function recordLastPicture(cdp: CdpConnection, recorder: TelemetryRecorder): Promise<void> {
  const taken = takeLast(cdp).catch(() => undefined);
  const picture = await pTimeout(taken, { milliseconds: endPatienceMs, message: false });
  if (picture !== undefined) recorder.recordPicture(picture.event, picture.jpeg);
}

async function takeLast(cdp: CdpConnection) {
  const targetId = await findVisiblePage(cdp);
  if (targetId === undefined) return undefined;
  const { targetInfo } = await cdp.send("Target.getTargetInfo", { targetId });
  if (!/^(?:https?|file|data|blob|chrome-error):/.test(targetInfo.url)) return undefined;
  await using page = await attachToPage(cdp, targetId);
  for (const quality of qualities) {
    const { data: jpeg } = await cdp.send(
      "Page.captureScreenshot",
      { format: "jpeg", quality, optimizeForSpeed: true },
      page.sessionId,
    );
    const sizeBytes = Buffer.byteLength(jpeg, "base64");
    if (sizeBytes > maxBytes) continue;
    const cutter = new Cutter();
    const data = {
      url: cutter.text(targetInfo.url, maxUrlBytes),
      title: cutter.text(targetInfo.title, 1024),
      target_id: targetId,
      size_bytes: sizeBytes,
    };
    return {
      event: {
        type: "page_picture",
        category: "page",
        source: { kind: "cdp", event: "Page.captureScreenshot" },
        data,
      } as const,
      jpeg,
    };
  }
  return undefined;
}
