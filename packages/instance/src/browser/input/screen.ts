import type { Point } from "./pointer-path.ts";
import type { Key } from "./us-layout.ts";

export type MouseButton = "left" | "right" | "middle" | "back" | "forward";

export interface MouseInput extends Point {
  readonly type: "move" | "down" | "up";
  /** The button that goes down or up; during a move, the button pressed last. */
  readonly button?: MouseButton | undefined;
  /** Buttons that are down afterwards, as `MouseEvent.buttons`. */
  readonly buttons: number;
  /** Position in a series of clicks, from 1. */
  readonly clickCount?: number;
  /** Bits of `modifierBits`. */
  readonly modifiers: number;
}

/** CSS pixels. */
export interface WheelInput extends Point {
  readonly deltaX: number;
  readonly deltaY: number;
  readonly buttons: number;
  readonly modifiers: number;
}

export interface KeyInput {
  readonly type: "down" | "up";
  readonly key: Key;
  readonly modifiers: number;
  /** Whether this is an automatic repeat of a held key. */
  readonly repeated?: boolean;
}

export interface Region extends Point {
  readonly width: number;
  readonly height: number;
}

export interface OpenDialog {
  /** `alert`, `confirm`, `prompt` or `beforeunload`. */
  readonly type: string;
  /** Accepts or dismisses it. @param text - text for a prompt; its default when absent. */
  answer(accept: boolean, text?: string): Promise<void>;
}

/**
 * The page of a headless browser, otherwise the whole screen, in screenshot pixels. Calls do not wait for a page that
 * does not respond; it receives its input when it resumes.
 */
export interface View {
  readonly name: "page" | "screen";
  /** In pixels. @returns `undefined` when the content does not respond. */
  size(): Promise<{ readonly width: number; readonly height: number } | undefined>;
  /** Whether typed keys reach the visible content. */
  hasKeyboard(): Promise<boolean>;
  /** The open dialog, unless a client answers it within a moment. */
  dialog(): Promise<OpenDialog | undefined>;
  mouse(input: MouseInput): Promise<void>;
  wheel(input: WheelInput): Promise<void>;
  key(input: KeyInput): Promise<void>;
  /** @returns PNG. */
  screenshot(region?: Region): Promise<Buffer>;
  readClipboard(): Promise<string>;
  writeClipboard(text: string): Promise<void>;
}

export interface Screen {
  /** @throws {ServiceError} 409 when no page is open, 503 when the browser has ended. */
  look(): Promise<View>;
  /** Sets whether screenshots show the pointer, where one exists. */
  showPointer(visible: boolean): void;
}
