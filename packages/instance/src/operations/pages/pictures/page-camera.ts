import type { CheckedRequestOf, screenshotPage } from "@shoal/contract";
import { invalid } from "@shoal/contract/refusals";
import { type BytesReply, ServiceError } from "@shoal/router";
import type { Protocol } from "devtools-protocol";
import pLimit from "p-limit";
import pTimeout from "p-timeout";
import { Readable } from "node:stream";
import { captureFrame } from "../../computer/page-frame.ts";
import { chooseElement } from "../tabs/choose-element.ts";
import { dialogOpen, pageNotResponding } from "../tabs/page-errors.ts";
import type { OpenTab, SessionPages } from "../tabs/session-pages.ts";
import {
  boxOf,
  type Clip,
  clipOf,
  isInside,
  tileOf,
  viewportOf,
  type VisiblePart,
  visiblePartOf,
  wholePage,
} from "./clip.ts";
import { drawLabels, findLabels } from "./labels.ts";

type Options = CheckedRequestOf<typeof screenshotPage>["body"];

const captureMs = 15_000;
/** The step of a flow waits for its picture. */
const smallMs = 20_000;

/** Takes pictures of pages. */
export class PageCamera {
  readonly #pages: SessionPages;
  /** Large pictures take memory, and two at once of one page disturb each other. */
  readonly #oneAtATime = pLimit(1);

  constructor(pages: SessionPages) {
    this.#pages = pages;
  }

  /** @throws {ServiceError} 400, 404, or 409 if the page cannot be drawn. */
  async take(options: Options): Promise<BytesReply> {
    const { format, full_page: isWhole, ref, selector } = options;
    if (isWhole && (ref ?? selector) !== undefined)
      throw ServiceError.of(invalid("body.full_page", "cannot be combined with `ref` or `selector`"));
    const data = await this.#oneAtATime(() => this.#take(options));
    const picture = Buffer.from(data, "base64");
    return { stream: Readable.from([picture]), sizeBytes: picture.length, contentType: `image/${format}` };
  }

  /** Returns the visible part of the page in front as JPEG in base64; `undefined` if it cannot be drawn, or is larger. */
  async takeSmall(maxBytes: number): Promise<string | undefined> {
    const small = { format: "jpeg", full_page: false, labels: false, max_width: 1280 } as const;
    return pTimeout(
      this.#oneAtATime(async () => {
        for (const quality of [60, 20]) {
          const data = await this.#take({ ...small, quality });
          if (Buffer.byteLength(data, "base64") <= maxBytes) return data;
        }
        return undefined;
      }).catch(() => undefined),
      { milliseconds: smallMs, fallback: () => undefined },
    );
  }

  async #take(options: Options): Promise<string> {
    const { element, tab } = await chooseElement(this.#pages, options);
    if (tab.page.session.dialog !== undefined) return lastFrame(tab, options);
    // First, because it scrolls to the element.
    const box = element === undefined ? undefined : await boxOf(element);
    const visible = await visiblePartOf(tab.page);
    if (visible === undefined) return lastFrame(tab, options);
    const area = box ?? (options.full_page ? await wholePage(tab.page) : visible);
    if (area === undefined) return lastFrame(tab, options);
    const { max_width: maxWidth, tile } = options;
    const shown = tile === undefined ? area : tileOf(area, visible.ratio, { maxWidth, tile });
    const clip = clipOf(shown, visible.ratio, maxWidth);
    const labels = options.labels ? await findLabels(this.#pages, tab, visible) : undefined;
    const captured = await capture(tab, { clip, visible, options });
    if (captured === undefined) return lastFrame(tab, options);
    if (labels === undefined) return captured;
    const { format, quality } = options;
    const drawn = await drawLabels(tab.page, captured, { labels, clip, format, quality });
    if (drawn === undefined) throw ServiceError.of(pageNotResponding(tab.id, "did not answer within 10 seconds"));
    return drawn;
  }
}

/** Returns base64; `undefined` if the page does not draw. */
async function capture(
  { page }: OpenTab,
  { clip, options, visible }: { clip: Clip; options: Options; visible: VisiblePart },
): Promise<string | undefined> {
  const format = options.labels ? "png" : options.format;
  const params: Protocol.Page.CaptureScreenshotRequest = {
    format,
    // Takes half the default time; the file is slightly larger.
    ...(format === "png" ? { optimizeForSpeed: true } : { quality: options.quality }),
    clip: viewportOf(clip),
    // The page notices the change of its size; Playwright takes pictures of whole pages in the same way.
    captureBeyondViewport: !isInside(clip, visible),
  };
  const outcome = await page.session.outcome(
    page.cdp.send("Page.captureScreenshot", params, page.session.sessionId),
    captureMs,
  );
  if (outcome.kind === "gone") throw page.session.endError();
  return outcome.kind === "done" ? outcome.result.data : undefined;
}

/** A busy page, or one with a dialog, cannot draw, but the compositor has its last frame. */
async function lastFrame(tab: OpenTab, options: Options): Promise<string> {
  const { format, full_page: isWhole, labels, max_width: maxWidth, quality, ref, selector, tile } = options;
  const isPlain = !isWhole && (tile ?? 1) === 1 && !labels && (ref ?? selector) === undefined;
  const frame =
    isPlain && format !== "webp" ? await captureFrame(tab.page.session, { format, quality, maxWidth }) : undefined;
  if (tab.page.session.ended) throw tab.page.session.endError();
  if (frame !== undefined) return frame.toString("base64");
  const { dialog } = tab.page.session;
  throw ServiceError.of({
    ...(dialog === undefined ? pageNotResponding(tab.id, "does not draw") : dialogOpen(tab.id, dialog)),
    hint: "Only its visible part can be taken now, as png or jpeg, without labels. Or answer its dialog, or navigate it.",
  });
}
