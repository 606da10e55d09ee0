import { ServiceError } from "@shoal/router";
import { relatedIn } from "../follow/element-handle.ts";
import type { FollowedPage, FrameTarget } from "../follow/followed-page.ts";
import { pageNotResponding } from "../tabs/page-errors.ts";
import type { OpenTab } from "../tabs/session-pages.ts";
import { type CaptureOptions, captureTarget } from "./capture-target.ts";
import type { DomDocument } from "./dom-snapshot.ts";
import { type Captured, maxDocuments, type PageDocument } from "./page-document.ts";

/** Sizes in CSS pixels. */
export interface PageMetrics {
  readonly width: number;
  readonly height: number;
  readonly above: number;
  readonly below: number;
}

export interface CapturedPage {
  readonly main: PageDocument;
  readonly metrics: PageMetrics;
  readonly focused: Focused | undefined;
  /** Whether there were more frames than an outline includes. */
  readonly hasOmittedFrames: boolean;
}

interface Focused {
  /** In the main frame's process. */
  readonly backendNodeId: number;
  /** What the browser says next to a field that holds back its form. */
  readonly refusal: string;
}

const pageMs = 10_000;
/** A frame of another site may be busy. */
const frameMs = 2_000;
const maxNodes = 400_000;

/**
 * Captures the documents of a page without running scripts in them. Returns `undefined` while a dialog is open.
 * @throws {ServiceError} 409 if the page does not answer or is too large.
 */
export async function capturePage(
  { id, page }: Pick<OpenTab, "id" | "page">,
  { isWhole = false }: Partial<Pick<CaptureOptions, "isWhole">> = {},
): Promise<CapturedPage | undefined> {
  if (hasDialog(page)) return undefined;
  const [main, ...others] = page.targets;
  if (main === undefined) throw page.session.endError();
  const [focused, metrics, own, ...remote] = await Promise.all([
    // First: the snapshot takes the page longer.
    findFocused(page, main),
    readMetrics(page),
    captureTarget(page, main, { timeoutMs: pageMs, isWhole }),
    ...others.map((target) => captureTarget(page, target, { timeoutMs: frameMs, isWhole }).catch(() => undefined)),
  ]);
  if (own === undefined || metrics === undefined) {
    if (hasDialog(page)) return undefined;
    throw ServiceError.of(pageNotResponding(id, "does not answer: a script blocks it"));
  }
  const documents = [own, ...remote.filter((found) => found !== undefined)].flat();
  if (documents.reduce((sum, { dom }) => sum + dom.count, 0) > maxNodes)
    throw ServiceError.of(pageNotResponding(id, `has more than ${String(maxNodes)} nodes`));
  await embedRemote(page, documents);
  const root = documents.find(({ dom }) => dom.frameId === page.mainFrameId);
  if (root === undefined) throw ServiceError.of(pageNotResponding(id, "has no document"));
  return {
    main: root,
    metrics: withScroller(metrics, root.dom),
    focused,
    hasOmittedFrames: own.length >= maxDocuments,
  };
}

/** A function, so that TypeScript does not narrow across an `await`. */
function hasDialog({ session }: FollowedPage): boolean {
  return session.dialog !== undefined;
}

async function embedRemote(page: FollowedPage, documents: readonly Captured[]): Promise<void> {
  const roots = documents.filter(({ dom, target }) => target.parent !== undefined && dom.frameId === target.targetId);
  await Promise.all(
    roots.map(async (root) => {
      const { parent, targetId } = root.target;
      const owner = await page
        .send(page.cdp.send("DOM.getFrameOwner", { frameId: targetId }, parent?.sessionId))
        .catch(() => undefined);
      if (owner === undefined) return;
      for (const { dom, frames, target } of documents)
        if (target === parent && dom.indexOf(owner.backendNodeId) !== undefined) frames.set(owner.backendNodeId, root);
    }),
  );
}

async function readMetrics({ cdp, session }: FollowedPage): Promise<PageMetrics | undefined> {
  const answer = await session.outcome(cdp.send("Page.getLayoutMetrics", undefined, session.sessionId), pageMs);
  if (answer.kind !== "done") return undefined;
  const { cssContentSize, cssLayoutViewport } = answer.result;
  const { clientHeight, clientWidth, pageY } = cssLayoutViewport;
  const below = cssContentSize.height - pageY - clientHeight;
  return {
    width: clientWidth,
    height: clientHeight,
    above: Math.max(0, Math.round(pageY)),
    below: Math.max(0, Math.round(below)),
  };
}

/** In a page that does not scroll itself, the largest part that does. */
function withScroller(metrics: PageMetrics, document: DomDocument): PageMetrics {
  if (metrics.above + metrics.below > 0) return metrics;
  let largest = (metrics.width * metrics.height) / 4;
  let scroller = metrics;
  for (const { box, content } of document.scrollers()) {
    if (box.width * box.height <= largest) continue;
    largest = box.width * box.height;
    const above = Math.max(0, Math.round(box.y - content.y));
    scroller = { ...metrics, above, below: Math.max(0, Math.round(content.height - box.height) - above) };
  }
  return scroller;
}

/** Returns the document itself if no element has the focus. Frames of other sites keep theirs to themselves. */
const focusedFunction = `function () {
  const inside = (at) => {
    const { activeElement, body } = at.contentDocument ?? {};
    return activeElement && activeElement !== body ? activeElement : at.shadowRoot?.activeElement;
  };
  let at = document.activeElement;
  for (let inner = at; inner; inner = inside(at)) at = inner;
  return at === null || at === document.body ? document : at;
}`;

/** As the browser shows it after a form was sent, until the value is right. */
const refusalFunction = `function () {
  if (!this.form || this.form.noValidate || !this.matches(":user-invalid")) return "";
  return this.validationMessage.slice(0, 400);
}`;

/** In the main frame. */
async function findFocused(page: FollowedPage, target: FrameTarget): Promise<Focused | undefined> {
  const related = relatedIn(page, { target, frameId: page.mainFrameId, loaderId: "" }, focusedFunction);
  const answer = await page.session.outcome(related, pageMs).catch(() => undefined);
  if (answer?.kind !== "done" || answer.result === undefined) return undefined;
  const { address, objectId } = answer.result;
  const refused = await page.session.outcome(answer.result.call<unknown>(refusalFunction), pageMs);
  // It would keep the element in memory.
  void page.ask(page.cdp.send("Runtime.releaseObject", { objectId }, target.sessionId));
  const refusal = refused.kind === "done" && typeof refused.result === "string" ? refused.result : "";
  return { backendNodeId: address.backendNodeId, refusal };
}
