import type { FollowedPage, FrameTarget } from "../follow/followed-page.ts";

/** What a snapshot does not tell about listeners. By backend node ids. */
export interface Listeners {
  /** They listen to presses of a pointer. */
  readonly pressed: ReadonlySet<number>;
  /** A framework listens there for the whole page. */
  readonly serving: ReadonlySet<number>;
}

export const noListeners: Listeners = { pressed: new Set(), serving: new Set() };

/** Snapshots tell about clicks and mouse buttons. A mouse sends no touches. */
const pressTypes = ["pointerdown", "pointerup", "dblclick"] as const;
/** More would take a second, and messages of megabytes. */
const maxListeners = 20_000;
/** No part of a page listens to so many types of events for itself. */
const servingTypes = 30;

/**
 * Reads where the topmost document of a target listens to pointers. @param count - listeners of its process.
 *
 * Only of the page's own world, and without shadow roots and frames: when Chromium 156 reports listeners of another
 * world than that of the document, elements may get the wrong world, and calls of their methods fail.
 */
export async function readListeners(
  page: FollowedPage,
  { sessionId }: FrameTarget,
  count: Promise<number>,
): Promise<Listeners> {
  const { cdp } = page;
  const [document, present] = await Promise.all([
    page.ask(cdp.send("Runtime.evaluate", { expression: "document" }, sessionId)),
    count.catch(() => 0),
  ]);
  const objectId = document?.result.objectId;
  if (objectId === undefined) return noListeners;
  const params = { objectId, depth: -1, pierce: false };
  const answer =
    present === 0 || present > maxListeners
      ? undefined
      : await page.ask(cdp.send("DOMDebugger.getEventListeners", params, sessionId));
  void page.ask(cdp.send("Runtime.releaseObject", { objectId }, sessionId));
  const types = Map.groupBy(answer?.listeners ?? [], ({ backendNodeId }) => backendNodeId);
  const pressed = new Set<number>();
  const serving = new Set<number>();
  for (const [node, listeners] of types) {
    if (node === undefined) continue;
    const of = new Set(listeners.map(({ type }) => type));
    if (of.size > servingTypes) serving.add(node);
    else if (pressTypes.some((type) => of.has(type))) pressed.add(node);
  }
  return { pressed, serving };
}
