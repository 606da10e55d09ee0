import * as z from "zod/mini";
import { lazyObject, openEnum } from "../base/schema.ts";
import { TelemetrySource } from "./telemetry-parts.ts";

/** Commands of CDP clients that act on the browser. */
export const cdpCommandMethods = [
  "Input.dispatchMouseEvent",
  "Input.dispatchKeyEvent",
  "Input.insertText",
  "Input.imeSetComposition",
  "Input.dispatchTouchEvent",
  "Input.dispatchDragEvent",
  "Input.cancelDragging",
  "Input.emulateTouchFromMouseEvent",
  "Input.synthesizePinchGesture",
  "Input.synthesizeScrollGesture",
  "Input.synthesizeTapGesture",
  "DOM.setFileInputFiles",
  "DOM.focus",
  "DOM.scrollIntoViewIfNeeded",
  "Page.bringToFront",
  "Page.captureScreenshot",
  "Page.captureSnapshot",
  "Page.handleJavaScriptDialog",
  "Page.navigate",
  "Page.navigateToHistoryEntry",
  "Page.reload",
  "Page.printToPDF",
  "Page.startScreencast",
  "Page.stopScreencast",
  "Page.stopLoading",
  "Page.close",
  "Page.setWebLifecycleState",
  "Target.activateTarget",
  "Target.closeTarget",
  "Target.createTarget",
  "Target.createBrowserContext",
  "Target.disposeBrowserContext",
  "Target.openDevTools",
  "Browser.cancelDownload",
  "Browser.close",
  "Browser.setWindowBounds",
  "Browser.setContentsSize",
  "Autofill.trigger",
] as const;

/** A command that `cdp_command` can report. */
export type CdpCommandMethod = (typeof cdpCommandMethods)[number];

/**
 * A CDP client sent a command that acts on the browser. Texts, paths and addresses are left out: only their lengths, numbers and
 * kinds are here.
 */
export interface CdpCommandEvent extends z.output<typeof CdpCommandEvent> {}
export const CdpCommandEvent = lazyObject(() => ({
  /** When it happened, in microseconds since 1970 (UTC). */
  ts: z.int(),
  /** The kind of event. */
  type: z.literal("cdp_command"),
  /** The category that switches it on. */
  category: z.literal("control"),
  /** Where it was seen. */
  source: TelemetrySource,
  /** The event. Further fields are the parameters of the command, in snake case: `x`, `click_count`, `text_length`, `url_scheme`. */
  data: z.optional(
    z.catchall(
      z.object({
        /** The command. */
        method: openEnum(...cdpCommandMethods),
        /** The client's number of the command. */
        command_id: z.optional(z.int()),
        /** The client, as in `cdp_connect`. */
        connection_id: z.optional(z.string()),
        /** CDP session, at most 128 characters. */
        session_id: z.optional(z.string()),
      }),
      z.union([z.number(), z.string(), z.boolean(), z.array(z.string())]),
    ),
  ),
  /** Whether `data` was cut for its size. */
  truncated: z.optional(z.boolean()),
}));
