import { checked } from "@shoal/schemas";
import * as z from "zod/mini";

/** Longest message of a viewer, in bytes: what it may paste. */
export const maxViewerMessageBytes = 1024 * 1024;

const place = () => checked(z.number(), z.minimum(-100_000), z.maximum(100_000));
const bits = (maximum: number) => checked(z.int(), z.minimum(0), z.maximum(maximum));
const name = () => checked(z.string(), z.maxLength(64));

/** Bits of CDP's `modifiers`: Alt 1, Control 2, Meta 4, Shift 8. */
const modifiers = () => bits(15);

const ViewerMessageShape = z.lazy(() =>
  z.discriminatedUnion("type", [
    /** A picture is on the viewer's screen: the next one may be sent. */
    z.object({ type: z.literal("drawn") }),
    z.object({
      type: z.literal("mouse"),
      action: z.enum(["move", "down", "up"]),
      /** CSS pixels of the page. */
      x: place(),
      y: place(),
      button: z.enum(["none", "left", "middle", "right", "back", "forward"]),
      /** Those that are down afterwards, as `MouseEvent.buttons`. */
      buttons: bits(31),
      /** Which click of several this one is, from 1. */
      clicks: bits(100),
      modifiers: modifiers(),
    }),
    z.object({ type: z.literal("wheel"), x: place(), y: place(), delta_x: place(), delta_y: place(), modifiers: modifiers() }),
    z.object({
      type: z.literal("key"),
      action: z.enum(["down", "up"]),
      /** As `KeyboardEvent` has them. */
      key: name(),
      code: name(),
      key_code: bits(65_535),
      location: bits(3),
      modifiers: modifiers(),
      repeat: z.boolean(),
      /** What it types, if anything. */
      text: z.optional(name()),
    }),
    /** Text that no single key typed: an input method's, a touch keyboard's. */
    z.object({ type: z.literal("text"), text: z.string() }),
    /** What an input method shows before it is settled; empty takes it back. */
    z.object({ type: z.literal("compose"), text: checked(z.string(), z.maxLength(2000)) }),
    /** Puts a text into the session's clipboard, and pastes it where the cursor is. */
    z.object({ type: z.literal("paste"), text: z.string() }),
    /** Puts a text into the session's clipboard. */
    z.object({ type: z.literal("write_clipboard"), text: z.string() }),
    /** Asks for what is in it. */
    z.object({ type: z.literal("read_clipboard") }),
    z.object({ type: z.literal("tab"), action: z.enum(["show", "close"]), id: checked(z.string(), z.maxLength(100)) }),
    z.object({ type: z.literal("open_tab") }),
    z.object({ type: z.literal("navigate"), url: checked(z.string(), z.maxLength(8192)) }),
    z.object({ type: z.literal("history"), action: z.enum(["back", "forward", "reload", "stop"]) }),
    /** Answers the dialog that is open. */
    z.object({ type: z.literal("dialog"), accept: z.boolean(), text: z.optional(checked(z.string(), z.maxLength(100_000))) }),
  ]),
);

/** What a viewer of a live view sends. */
export type ViewerMessage = z.output<typeof ViewerMessageShape>;

/** @returns `undefined` when it is none. */
export function parseViewerMessage(text: string): ViewerMessage | undefined {
  try {
    const result = ViewerMessageShape.safeParse(JSON.parse(text));
    return result.success ? result.data : undefined;
  } catch {
    return undefined;
  }
}

/** A dialog of the page. */
export interface ShownDialog {
  /** `alert`, `confirm`, `prompt` or `beforeunload`. */
  readonly kind: string;
  readonly message: string;
  /** What a prompt holds at first. */
  readonly default_text: string;
}

/** What viewers are sent as text; pictures are binary messages, each a JPEG. */
export type LiveViewMessage =
  /** The first message: what this viewer may do. */
  | { readonly type: "hello"; readonly read_only: boolean }
  /** How many watch, this viewer included. */
  | { readonly type: "viewers"; readonly count: number }
  | { readonly type: "state"; readonly state: "running" | "restarting" | "no_page" }
  /** The pages in the order in which they were opened, and the one that is shown. */
  | {
      readonly type: "tabs";
      readonly tabs: readonly { readonly id: string; readonly title: string; readonly url: string }[];
      readonly shown: string | null;
    }
  /** Size of the page in CSS pixels: what the pictures that follow show. */
  | { readonly type: "size"; readonly width: number; readonly height: number }
  | { readonly type: "dialog"; readonly dialog: ShownDialog | null }
  /** The answer to `read_clipboard`. */
  | { readonly type: "clipboard"; readonly text: string }
  /** Something that was asked for could not be done. */
  | { readonly type: "notice"; readonly message: string };
