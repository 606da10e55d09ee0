import type { BrowserSupervisor } from "../chromium/supervisor.ts";
import type { ChangeViewport, ViewportChanged } from "../protocol.ts";
import type { Assignments } from "./assignments.ts";
import type { Parts } from "./parts.ts";
import type { Refusal } from "./replies.ts";

interface ViewportChangeOptions {
  readonly browser: BrowserSupervisor;
  readonly assignments: Assignments;
  readonly parts: Pick<Parts, "liveView" | "operations">;
  readonly isEnding: () => boolean;
}

/** Sizes the session's pages, or its screen; not under a recording or a viewer, unless that is forced. */
export function createViewportChange({
  browser,
  assignments,
  parts,
  isEnding,
}: ViewportChangeOptions): (change: ChangeViewport) => Promise<Refusal | ViewportChanged> {
  return async ({ viewport, force }) => {
    if (isEnding()) return { status: 503, code: "shutting_down", message: "This session is ending." };
    const refusal = assignments.display()?.refusal(viewport);
    if (refusal !== undefined) return refusal;
    const recordings = (await parts.operations.begun)?.recordings;
    const running = (await recordings?.running()) ?? 0;
    if (running > 0 && !force)
      return {
        status: 409,
        code: "conflict",
        message:
          "body.viewport: a recording of this session runs. Stop it first, or send force: true: it then ends, and goes on as another one of the new size.",
      };
    const viewers = (await parts.liveView.begun)?.viewers ?? 0;
    if (viewers > 0 && !force)
      return {
        status: 409,
        code: "conflict",
        message:
          "body.viewport: somebody watches this session in its live view, which would change under their hands. Wait until they have left, or send force: true.",
      };
    const resize = async () => {
      await assignments.display()?.change(viewport);
      await browser.resize(viewport);
    };
    if (recordings !== undefined) return { replays: await recordings.across(resize) };
    await resize();
    return { replays: [] };
  };
}
