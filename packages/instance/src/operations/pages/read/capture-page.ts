import { ServiceError } from "@shoal/router";
import type { FollowedPage, FrameTarget } from "../follow/followed-page.ts";
import type { ElementHandle } from "../follow/element-handle.ts";
import { pageNotResponding } from "../tabs/page-errors.ts";
import type { OpenTab } from "../tabs/session-pages.ts";
import { captureProcess, largeMs } from "../capture/capture-target.ts";
import type { CapturedPage, CapturedProcess } from "../sight/captured-page.ts";

/** A larger snapshot could exceed a message of the browser. */
const maxProcessNodes = 1_000_000;
/** The snapshot of a larger page may take seconds. */
const largeNodes = 20_000;
const captureMs = 10_000;

export type CapturedContent = Pick<CapturedPage, "processes" | "frames" | "root">;

/** Reads a page with layout and without running scripts of the page. @throws {ServiceError} 409 when it does not answer. */
export async function capturePage(tab: OpenTab, element: ElementHandle | undefined): Promise<CapturedContent> {
  const { page } = tab;
  const targets = element === undefined ? page.targets : [...new Set([element.address.target, ...page.targets])];
  const processes = await Promise.all(targets.map((target) => captureBounded(tab, target)));
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

async function captureBounded(tab: OpenTab, target: FrameTarget): Promise<CapturedProcess> {
  const { page } = tab;
  try {
    const counters = await page.send(page.cdp.send("Memory.getDOMCounters", undefined, target.sessionId));
    if (counters !== undefined && counters.nodes > maxProcessNodes)
      throw ServiceError.of(pageNotResponding(tab.id, `has more than ${maxProcessNodes.toLocaleString("en")} nodes`));
    const timeoutMs = (counters?.nodes ?? 0) > largeNodes ? captureMs + largeMs : captureMs;
    const captured = await captureProcess(page, target, { isBasic: false, timeoutMs });
    if (captured === undefined) throw ServiceError.of(pageNotResponding(tab.id, "did not answer in time"));
    return { documents: captured.documents, strings: captured.strings };
  } catch (error) {
    // A frame may go while it is read; the page may not.
    if (target.parent === undefined) throw error;
    return { documents: [], strings: [] };
  }
}

async function ownerOf(page: FollowedPage, { parent, targetId }: FrameTarget): Promise<number | undefined> {
  if (parent === undefined) return undefined;
  const owner = await page
    .send(page.cdp.send("DOM.getFrameOwner", { frameId: targetId }, parent.sessionId))
    .catch(() => undefined);
  return owner?.backendNodeId;
}
