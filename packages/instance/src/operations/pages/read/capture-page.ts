import { ServiceError } from "@shoal/router";
import type { FollowedPage, FrameTarget } from "../follow/followed-page.ts";
import type { PageElement } from "../follow/page-element.ts";
import { pageNotResponding } from "../tabs/page-errors.ts";
import type { OpenTab } from "../tabs/session-pages.ts";
import { type CapturedPage, type CapturedProcess, capturedStyles } from "../text/captured-page.ts";

/** A larger snapshot could exceed a message of the browser. */
const maxProcessNodes = 1_000_000;

/** Chromium does not lay out parts of a page that are far from the viewport. A person would, by scrolling there. */
const layOutExpression = `(() => {
  const maxElements = 100000;
  let looked = 0;
  const layOut = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (++looked > maxElements) return;
      if (element.shadowRoot) layOut(element.shadowRoot);
      if (getComputedStyle(element).contentVisibility === "auto") element.querySelector("*")?.getBoundingClientRect();
    }
  };
  layOut(document);
})()`;

export type CapturedContent = Pick<CapturedPage, "processes" | "frames" | "root">;

/** Reads a page with layout and without running scripts of the page. @throws {ServiceError} 409 when it does not answer. */
export async function capturePage(tab: OpenTab, element: PageElement | undefined): Promise<CapturedContent> {
  const { page } = tab;
  const targets = element === undefined ? page.targets : [...new Set([element.address.target, ...page.targets])];
  const processes = await Promise.all(targets.map((target) => captureProcess(tab, target)));
  const frames = await Promise.all(
    targets.map(async (target, process) => {
      const ownerNodeId = await ownerOf(page, target);
      const ownerProcess = targets.findIndex(({ sessionId }) => sessionId === target.parent?.sessionId);
      return ownerNodeId === undefined || ownerProcess < 0 ? [] : [{ process, ownerProcess, ownerNodeId }];
    }),
  );
  return {
    processes,
    frames: frames.flat(),
    ...(element !== undefined && {
      root: { process: targets.indexOf(element.address.target), backendNodeId: element.address.backendNodeId },
    }),
  };
}

async function captureProcess(tab: OpenTab, target: FrameTarget): Promise<CapturedProcess> {
  const { page } = tab;
  try {
    const counters = await page.send(page.cdp.send("Memory.getDOMCounters", undefined, target.sessionId));
    if (counters !== undefined && counters.nodes > maxProcessNodes)
      throw ServiceError.of(pageNotResponding(tab.id, `has more than ${maxProcessNodes.toLocaleString("en")} nodes`));
    const first = await capture(page, target);
    if (first === undefined) throw ServiceError.of(pageNotResponding(tab.id, "did not answer within 10 seconds"));
    if (!first.strings.includes(skippedStyle)) return first;
    return (await captureWhole(page, target, first)) ?? first;
  } catch (error) {
    // A frame may go while it is read; the page may not.
    if (target.parent === undefined) throw error;
    return { documents: [], strings: [] };
  }
}

/** No other computed style of the snapshot has this value; a text of the page may. */
const skippedStyle = "auto";

async function captureWhole(
  page: FollowedPage,
  target: FrameTarget,
  { documents, strings }: CapturedProcess,
): Promise<CapturedProcess | undefined> {
  const place = capturedStyles.indexOf("content-visibility");
  const auto = strings.indexOf(skippedStyle);
  const skipping = documents.filter(({ layout }) => layout.styles.some((styles) => styles[place] === auto));
  if (skipping.length === 0) return undefined;
  await Promise.all(
    skipping.map(async ({ frameId }) => {
      const contextId = await page.worldOf(strings[frameId] ?? "", target);
      const params = { expression: layOutExpression, timeout: 2_000 };
      if (contextId !== undefined)
        await page.send(page.cdp.send("Runtime.evaluate", { ...params, contextId }, target.sessionId));
    }),
  );
  return capture(page, target);
}

function capture(page: FollowedPage, { sessionId }: FrameTarget): Promise<CapturedProcess | undefined> {
  const params = { computedStyles: [...capturedStyles], includeDOMRects: true };
  return page.send(page.cdp.send("DOMSnapshot.captureSnapshot", params, sessionId));
}

async function ownerOf(page: FollowedPage, { parent, targetId }: FrameTarget): Promise<number | undefined> {
  if (parent === undefined) return undefined;
  const owner = await page
    .send(page.cdp.send("DOM.getFrameOwner", { frameId: targetId }, parent.sessionId))
    .catch(() => undefined);
  return owner?.backendNodeId;
}
