import type { CdpConnection } from "../cdp/cdp-connection.ts";
import type { InstanceConfig } from "../../protocol/protocol.ts";

/** CSS pixels. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Height of a full Chromium's tab strip and toolbar. It counts them in the window even without a screen. */
const toolbarPixels = 87;

export function windowSize(kind: InstanceConfig["chromium"]["kind"], page: Size): Size {
  return kind === "chrome" ? { width: page.width, height: page.height + toolbarPixels } : page;
}

export interface ViewportControl {
  apply(page: Size): Promise<void>;
}

/**
 * Changes windows and screen instead of emulating them, so that the size applies to all clients.
 * @param launched - size of new windows, even if others have another size.
 */
export function controlViewport(
  cdp: CdpConnection,
  kind: InstanceConfig["chromium"]["kind"],
  launched: Size,
): ViewportControl {
  const launchedWindow = windowSize(kind, launched);
  let wanted = launched;
  let attached = false;

  async function resize(windowId: number): Promise<void> {
    if (kind === "chrome") await cdp.send("Browser.setContentsSize", { windowId, ...wanted });
    else await cdp.send("Browser.setWindowBounds", { windowId, bounds: { ...wanted } });
  }

  async function resizeNew(targetId: string): Promise<void> {
    const { windowId, bounds } = await cdp.send("Browser.getWindowForTarget", { targetId });
    // Otherwise the opener requested another size.
    if (bounds.width === launchedWindow.width && bounds.height === launchedWindow.height) await resize(windowId);
  }

  async function resizeScreen(): Promise<void> {
    const { screenInfos } = await cdp.send("Emulation.getScreenInfos");
    const screen = screenInfos.find((info) => info.isPrimary);
    if (screen !== undefined)
      await cdp.send("Emulation.updateScreen", { screenId: screen.id, ...windowSize(kind, wanted) });
  }

  async function resizeOpen(): Promise<void> {
    const { targetInfos } = await cdp.send("Target.getTargets");
    const windows = new Set<number>();
    for (const { targetId, type } of targetInfos) {
      if (type !== "page") continue;
      const { windowId } = await cdp.send("Browser.getWindowForTarget", { targetId });
      if (windows.has(windowId)) continue;
      windows.add(windowId);
      await resize(windowId);
    }
  }

  /** New pages wait for their size before their first script runs. */
  async function followNew(): Promise<void> {
    attached = true;
    cdp.on("Target.attachedToTarget", ({ sessionId, targetInfo, waitingForDebugger }, parent) => {
      // Skips pages that were open before, and pages that this program attaches to for another purpose.
      if (!waitingForDebugger || parent !== undefined) return;
      void resizeNew(targetInfo.targetId)
        // The page is closed or has no window; resume it anyway.
        .catch(() => undefined)
        .then(() => cdp.send("Runtime.runIfWaitingForDebugger", undefined, sessionId))
        .then(() => cdp.send("Target.detachFromTarget", { sessionId }))
        .catch(() => undefined);
    });
    await cdp.send("Target.setAutoAttach", {
      autoAttach: true,
      waitForDebuggerOnStart: true,
      flatten: true,
      filter: [{ type: "page" }],
    });
  }

  return {
    async apply(page) {
      if (page.width === wanted.width && page.height === wanted.height && !attached) return;
      wanted = page;
      await Promise.all([resizeScreen(), resizeOpen(), attached ? undefined : followNew()]);
    },
  };
}
