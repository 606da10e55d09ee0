import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import type { ViewerMessage } from "./messages.ts";

type Input = Extract<ViewerMessage, { type: "mouse" | "wheel" | "key" | "text" | "compose" }>;

/** Maximum number of inputs a page has not processed; further input is dropped. */
const maxPending = 200;

/** Sends a viewer's input to a page, in order and without waiting: a busy page receives it when it resumes. */
export class LiveInput {
  readonly #cdp: CdpConnection;
  readonly #sessionId: string;
  #pending = 0;
  #processed = Promise.resolve();
  #buttons = 0;
  #position = { x: 0, y: 0 };
  readonly #keys = new Map<string, Extract<Input, { type: "key" }>>();

  constructor(cdp: CdpConnection, sessionId: string) {
    this.#cdp = cdp;
    this.#sessionId = sessionId;
  }

  #dispatch(sent: Promise<unknown>): void {
    this.#pending++;
    // A page may reject input, or close before it answers.
    const answered = sent
      .catch(() => undefined)
      .then(() => {
        this.#pending--;
      });
    this.#processed = this.#processed.then(() => answered);
  }

  /** Resolves when the page has processed all input sent so far. A page with an open dialog does so when it closes. */
  processed(): Promise<void> {
    return this.#processed;
  }

  #key(input: Extract<Input, { type: "key" }>): void {
    const { action, key: name, code, key_code, location, text } = input;
    if (action === "down") this.#keys.set(code + name, input);
    else this.#keys.delete(code + name);
    const types = action === "down" && text !== undefined;
    this.#dispatch(
      this.#cdp.send(
        "Input.dispatchKeyEvent",
        {
          type: action === "up" ? "keyUp" : types ? "keyDown" : "rawKeyDown",
          key: name,
          code,
          windowsVirtualKeyCode: key_code,
          nativeVirtualKeyCode: key_code,
          modifiers: input.modifiers,
          autoRepeat: input.repeat,
          isKeypad: location === 3,
          // CDP's location distinguishes left and right; the number pad has a separate field.
          location: location === 3 ? 0 : location,
          ...(types && { text, unmodifiedText: text }),
        },
        this.#sessionId,
      ),
    );
  }

  #mouse({ action, x, y, button, buttons: down, clicks, modifiers }: Extract<Input, { type: "mouse" }>): void {
    this.#position = { x, y };
    this.#buttons = down;
    const types = { move: "mouseMoved", down: "mousePressed", up: "mouseReleased" } as const;
    this.#dispatch(
      this.#cdp.send(
        "Input.dispatchMouseEvent",
        { type: types[action], x, y, button, buttons: down, clickCount: clicks, modifiers, pointerType: "mouse" },
        this.#sessionId,
      ),
    );
  }

  send(input: Input): void {
    // Never drops a release, and drops moves first.
    const isLetGo = (input.type === "mouse" || input.type === "key") && input.action === "up";
    const isMove = input.type === "wheel" || (input.type === "mouse" && input.action === "move");
    if (this.#pending >= (isMove ? maxPending / 4 : maxPending) && !isLetGo) return;
    switch (input.type) {
      case "mouse":
        this.#mouse(input);
        break;
      case "key":
        this.#key(input);
        break;
      case "wheel":
        this.#dispatch(
          this.#cdp.send(
            "Input.dispatchMouseEvent",
            {
              type: "mouseWheel",
              x: input.x,
              y: input.y,
              deltaX: input.delta_x,
              deltaY: input.delta_y,
              modifiers: input.modifiers,
              buttons: this.#buttons,
              pointerType: "mouse",
            },
            this.#sessionId,
          ),
        );
        break;
      case "text":
        this.#dispatch(this.#cdp.send("Input.insertText", { text: input.text }, this.#sessionId));
        break;
      case "compose":
        this.#dispatch(
          this.#cdp.send(
            "Input.imeSetComposition",
            { text: input.text, selectionStart: input.text.length, selectionEnd: input.text.length },
            this.#sessionId,
          ),
        );
        break;
    }
  }

  /** Releases the pressed buttons and keys, when the viewer has left or looks at another page. */
  release(): void {
    for (const held of [...this.#keys.values()]) this.#key({ ...held, action: "up", repeat: false });
    const names = ["left", "right", "middle", "back", "forward"] as const;
    for (const [bit, button] of names.entries()) {
      if ((this.#buttons & (1 << bit)) !== 0)
        this.#mouse({
          type: "mouse",
          action: "up",
          ...this.#position,
          button,
          buttons: this.#buttons & ~(1 << bit),
          clicks: 0,
          modifiers: 0,
        });
    }
  }
}
