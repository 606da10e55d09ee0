import pTimeout from "p-timeout";
import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import { attachToPage, findVisiblePage, visibleOf } from "../../browser/pages/visible-page.ts";
import { isTrue } from "../../system/is-true.ts";
import { Cutter, maxUrlBytes } from "./cut.ts";
import type { ClosedPages } from "./pictures/closed-pages.ts";
import { hasContent, type PagePicture, pictureOf, shownPages } from "./pictures/page-picture.ts";
import type { TelemetryRecorder } from "./recorder.ts";

const everyMs = 5_000;
/** Longest time for a screenshot; a slower page is skipped. */
const patienceMs = 10_000;
/** Base64 characters; a larger picture is omitted and the event marked as truncated. */
const maxCharacters = 6 * 2 ** 20;

/** The end of the session waits for the picture. */
const endPatienceMs = 3_000;

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

/**
 * Records what the front page shows, unless it is empty, too slow, or its picture too large. Never rejects.
 * @param closed - pages that clients closed: their last picture counts if no other page with content is open.
 */
export async function recordLastPicture(
  cdp: CdpConnection,
  recorder: TelemetryRecorder,
  closed: ClosedPages,
): Promise<void> {
  const taken = takeLast(cdp, closed).catch(() => undefined);
  const picture = await pTimeout(taken, { milliseconds: endPatienceMs, message: false });
  if (picture === undefined) return;
  const { jpeg, targetId, title, url } = picture;
  const cutter = new Cutter();
  const data = {
    url: cutter.text(url, maxUrlBytes),
    title: cutter.text(title, 1024),
    target_id: targetId,
    ...(picture === closed.last && { closed: true }),
    size_bytes: Buffer.byteLength(jpeg, "base64"),
  };
  const source = { kind: "cdp", event: "Page.captureScreenshot" } as const;
  recorder.recordPicture({ type: "page_picture", category: "page", source, data }, jpeg);
}

async function takeLast(cdp: CdpConnection, closed: ClosedPages): Promise<PagePicture | undefined> {
  const pages = (await shownPages(cdp)).filter((page) => !closed.isClosing(page));
  if (closed.last !== undefined && !pages.some(hasContent)) return closed.last;
  const front = await visibleOf(
    cdp,
    pages.map(({ targetId }) => targetId),
  );
  const info = pages.find(({ targetId }) => targetId === front);
  return info && hasContent(info) ? pictureOf(cdp, info) : undefined;
}
