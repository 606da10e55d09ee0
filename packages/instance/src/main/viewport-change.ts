import type { BrowserSupervisor } from "../browser/chromium/supervisor.ts";
import type { ChangeViewport, ViewportChanged } from "../protocol/protocol.ts";
import type { SessionDisplay } from "../browser/display/session-display.ts";
import type { Parts } from "./parts.ts";
import type { Refusal } from "../http/replies.ts";

interface ViewportChangeOptions {
  readonly browser: BrowserSupervisor;
  readonly display: () => SessionDisplay | undefined;
  readonly parts: () => Pick<Parts, "liveView" | "operations">;
  readonly isEnding: () => boolean;
}

/** Resizes the session's pages or screen. During a recording or with viewers, only when forced. */
export function createViewportChange({
  browser,
  display,
  parts,
  isEnding,
}: ViewportChangeOptions): (change: ChangeViewport) => Promise<Refusal | ViewportChanged> {
  return async ({ viewport, force }) => {
    if (isEnding()) return { status: 503, code: "shutting_down", message: "This session is ending." };
    const refusal = display()?.refusal(viewport);
    if (refusal !== undefined) return refusal;
    const recordings = (await parts().operations.begun)?.recordings;
    const running = (await recordings?.running()) ?? 0;
    if (running > 0 && !force)
      return inUse(
        "this session is being recorded",
        "Stop the recording first, or send force: true to continue in a new recording of the new size.",
      );
    const viewers = (await parts().liveView.begun)?.viewers ?? 0;
    if (viewers > 0 && !force)
      return inUse("this session's live view has viewers", "Wait until they leave, or send force: true.");
    const resize = async () => {
      await display()?.change(viewport);
      await browser.resize(viewport);
    };
    if (recordings !== undefined) return recordings.across(resize);
    await resize();
    return { replays: [] };
  };
}

function inUse(problem: string, hint: string): Refusal {
  const field = "body.viewport";
  return { status: 409, code: "conflict", message: `${field}: ${problem}. ${hint}`, field, hint };
}
