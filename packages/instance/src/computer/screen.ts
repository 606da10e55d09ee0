import type { Point } from "./pointer-path.ts";
import type { Key } from "./us-layout.ts";

export type MouseButton = "left" | "right" | "middle" | "back" | "forward";

/** What the mouse does. */
export interface MouseInput extends Point {
  readonly type: "move" | "down" | "up";
  /** The button that goes down or up; the one that was pressed last during a move. */
  readonly button?: MouseButton | undefined;
  /** Buttons that are down afterwards, as `MouseEvent.buttons`. */
  readonly buttons: number;
  /** Which click of several this one is, from 1. */
  readonly clickCount?: number;
  /** Bits of `modifierBits`. */
  readonly modifiers: number;
}

/** A turn of the wheel, in CSS pixels. */
export interface WheelInput extends Point {
  readonly deltaX: number;
  readonly deltaY: number;
  readonly buttons: number;
  readonly modifiers: number;
}

/** What the keyboard does. */
export interface KeyInput {
  readonly type: "down" | "up";
  readonly key: Key;
  readonly modifiers: number;
  /** The keyboard's own repetition of a key that is held. */
  readonly repeated?: boolean;
}

export interface Region extends Point {
  readonly width: number;
  readonly height: number;
}

/** A dialog that keeps the page from going on. */
export interface OpenDialog {
  /** `alert`, `confirm`, `prompt` or `beforeunload`. */
  readonly type: string;
  /** Answers it: as a person does with its buttons. @param text - what was typed into a prompt; its default when absent. */
  answer(accept: boolean, text?: string): Promise<void>;
}

/**
 * What is seen at the moment and takes input. Coordinates are pixels of a screenshot. No call waits for a page that does not answer:
 * what it was sent, it gets when it goes on.
 *
 * Headless browsers show the visible page, others the whole screen with its windows.
 */
export interface View {
  /** What it shows, for messages. */
  readonly name: "page" | "screen";
  /** In pixels. @returns `undefined` when what is shown does not answer. */
  size(): Promise<{ readonly width: number; readonly height: number } | undefined>;
  /** Whether what is typed goes to what is shown. */
  hasKeyboard(): Promise<boolean>;
  /** The dialog that is open, once nobody else has answered it within a moment. */
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
  /** @throws {ServiceError} 409 when there is nothing to see, 503 when the browser is gone. */
  look(): Promise<View>;
  /** Whether screenshots show the pointer, where there is one to be seen. */
  showPointer(visible: boolean): void;
}
