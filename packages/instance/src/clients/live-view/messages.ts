import { checked } from "@shoal/schemas";
import * as z from "zod/mini";

/** Longest viewer message in bytes, which limits the size of a paste. */
export const maxViewerMessageBytes = 1024 * 1024;

const place = () => checked(z.number(), z.minimum(-100_000), z.maximum(100_000));
const bits = (maximum: number) => checked(z.int(), z.minimum(0), z.maximum(maximum));
const name = () => checked(z.string(), z.maxLength(64));

/** Bits of CDP's `modifiers`: Alt 1, Control 2, Meta 4, Shift 8. */
const modifiers = () => bits(15);

export type ViewerMessage = z.output<typeof ViewerMessage>;
const ViewerMessage = z.lazy(() =>
  z.discriminatedUnion("type", [
    /** The viewer has drawn a picture: the next one may be sent. */
    z.object({ type: z.literal("drawn") }),
    z.object({
      type: z.literal("mouse"),
      action: z.enum(["move", "down", "up"]),
      /** CSS pixels of the page. */
      x: place(),
      y: place(),
      button: z.enum(["none", "left", "middle", "right", "back", "forward"]),
      /** Buttons that are down afterwards, as `MouseEvent.buttons`. */
      buttons: bits(31),
      /** Position in a series of clicks, from 1. */
      clicks: bits(100),
      modifiers: modifiers(),
    }),
    z.object({
      type: z.literal("wheel"),
      x: place(),
      y: place(),
      delta_x: place(),
      delta_y: place(),
      modifiers: modifiers(),
    }),
    z.object({
      type: z.literal("key"),
      action: z.enum(["down", "up"]),
      key: name(),
      code: name(),
      key_code: bits(65_535),
      location: bits(3),
      modifiers: modifiers(),
      repeat: z.boolean(),
      /** The text it types, if any. */
      text: z.optional(name()),
    }),
    /** Text that was not typed by single keys, for example by an input method or a touch keyboard. */
    z.object({ type: z.literal("text"), text: z.string() }),
    /** The preliminary text of an input method; an empty one cancels it. */
    z.object({ type: z.literal("compose"), text: checked(z.string(), z.maxLength(2000)) }),
    /** Writes a text to the session's clipboard and pastes it at the cursor. */
    z.object({ type: z.literal("paste"), text: z.string() }),
    z.object({ type: z.literal("write_clipboard"), text: z.string() }),
    z.object({ type: z.literal("read_clipboard") }),
    z.object({ type: z.literal("tab"), action: z.enum(["show", "close"]), id: checked(z.string(), z.maxLength(100)) }),
    z.object({ type: z.literal("open_tab") }),
    z.object({ type: z.literal("navigate"), url: checked(z.string(), z.maxLength(8192)) }),
    z.object({ type: z.literal("history"), action: z.enum(["back", "forward", "reload", "stop"]) }),
    z.object({
      type: z.literal("dialog"),
      accept: z.boolean(),
      text: z.optional(checked(z.string(), z.maxLength(100_000))),
    }),
  ]),
);

export function parseViewerMessage(text: string): ViewerMessage | undefined {
  try {
    const result = ViewerMessage.safeParse(JSON.parse(text));
    return result.success ? result.data : undefined;
  } catch {
    return undefined;
  }
}

export interface ShownDialog {
  /** `alert`, `confirm`, `prompt` or `beforeunload`. */
  readonly kind: string;
  readonly message: string;
  /** The prompt's initial text. */
  readonly default_text: string;
}

/** A text message to viewers. Pictures are binary messages, each a JPEG. */
export type LiveViewMessage =
  | { readonly type: "hello"; readonly read_only: boolean }
  /** Number of viewers, including this one. */
  | { readonly type: "viewers"; readonly count: number }
  | { readonly type: "state"; readonly state: "running" | "restarting" | "no_page" }
  /** The pages in the order in which they were opened, and the shown one. */
  | {
      readonly type: "tabs";
      readonly tabs: readonly { readonly id: string; readonly title: string; readonly url: string }[];
      readonly shown: string | null;
    }
  /** Size of the page in CSS pixels, for the following pictures. */
  | { readonly type: "size"; readonly width: number; readonly height: number }
  | { readonly type: "dialog"; readonly dialog: ShownDialog | null }
  | { readonly type: "clipboard"; readonly text: string }
  | { readonly type: "notice"; readonly message: string };
