import {
  batchComputerActions,
  captureScreenshot,
  clickMouse,
  dragMouse,
  getMousePosition,
  moveMouse,
  pressKey,
  readClipboard,
  scroll,
  setCursorVisibility,
  typeText,
  writeClipboard,
} from "@shoal/contract";
import type {
  CaptureScreenshot,
  ClickMouse,
  ClipboardText,
  ComputerBatch,
  DragMouse,
  MousePosition,
  MoveMouse,
  Ok,
  PressKey,
  Scroll,
  SetCursor,
  TypeText,
  WriteClipboard,
} from "@shoal/schemas";
import type { Call, CallOptions, Download, DownloadOptions, Transport } from "@shoal/transport";

/** Mouse, keyboard, screen and clipboard of a browser session. Coordinates are pixels from the top left corner of a screenshot. */
export class BrowserComputer {
  readonly #transport: Transport;
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Moves the pointer and clicks; by default once with the left button. */
  clickMouse(browserId: string, body: ClickMouse, options?: CallOptions): Call<void> {
    return this.#transport.call(clickMouse, { params: { id: browserId }, body }, options);
  }
  /** Moves the pointer, along a curve unless `smooth` is `false`. Resolves at the end of the movement. */
  moveMouse(browserId: string, body: MoveMouse, options?: CallOptions): Call<void> {
    return this.#transport.call(moveMouse, { params: { id: browserId }, body }, options);
  }
  /**
   * Takes a screenshot: PNG, as a stream.
   *
   * @example
   * const { stream } = await shoal.browsers.computer.captureScreenshot(id);
   * await writeFile("page.png", stream);
   */
  captureScreenshot(browserId: string, body: CaptureScreenshot = {}, options?: DownloadOptions): Promise<Download> {
    return this.#transport.download(captureScreenshot, { params: { id: browserId }, body }, options);
  }
  /** Types text in any script into the focused element. Resolves when all of it is typed. */
  typeText(browserId: string, body: TypeText, options?: CallOptions): Call<void> {
    return this.#transport.call(typeText, { params: { id: browserId }, body }, options);
  }
  /** Presses keys in order: keys (`Return`) or chords (`Ctrl+Shift+Tab`). @throws {ApiError} 400 for an unknown key. */
  pressKey(browserId: string, body: PressKey, options?: CallOptions): Call<void> {
    return this.#transport.call(pressKey, { params: { id: browserId }, body }, options);
  }
  /** Turns the mouse wheel; positive notches scroll right and down. */
  scroll(browserId: string, body: Scroll, options?: CallOptions): Call<void> {
    return this.#transport.call(scroll, { params: { id: browserId }, body }, options);
  }
  /** Drags along a path of points. */
  dragMouse(browserId: string, body: DragMouse, options?: CallOptions): Call<void> {
    return this.#transport.call(dragMouse, { params: { id: browserId }, body }, options);
  }
  /** Shows or hides the pointer on the screen, in screenshots and recordings. */
  setCursorVisibility(browserId: string, body: SetCursor, options?: CallOptions): Call<Ok> {
    return this.#transport.call(setCursorVisibility, { params: { id: browserId }, body }, options);
  }
  /**
   * Executes 1 to 100 actions in order and stops at the first failure.
   *
   * @example
   * await shoal.browsers.computer.batch(id, {
   *   actions: [
   *     { type: "click_mouse", click_mouse: { x: 200, y: 100 } },
   *     { type: "type_text", type_text: { text: "hello" } },
   *   ],
   * });
   *
   * @throws {ApiError} 400, 500; `fields.failed_action` is the index of the failed action, from 0.
   */
  batch(browserId: string, body: ComputerBatch, options?: CallOptions): Call<void> {
    return this.#transport.call(batchComputerActions, { params: { id: browserId }, body }, options);
  }
  /** Position of the pointer. */
  getMousePosition(browserId: string, options?: CallOptions): Call<MousePosition> {
    return this.#transport.call(getMousePosition, { params: { id: browserId } }, options);
  }
  /** Reads the text of the clipboard; empty without text. */
  readClipboard(browserId: string, options?: CallOptions): Call<ClipboardText> {
    return this.#transport.call(readClipboard, { params: { id: browserId } }, options);
  }
  /** Replaces the content of the clipboard by text. */
  writeClipboard(browserId: string, body: WriteClipboard, options?: CallOptions): Call<void> {
    return this.#transport.call(writeClipboard, { params: { id: browserId }, body }, options);
  }
}
