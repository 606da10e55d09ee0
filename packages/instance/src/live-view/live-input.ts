import type { CdpConnection } from "../cdp/pipe-connection.ts";
import type { ViewerMessage } from "./messages.ts";

type Input = Extract<ViewerMessage, { type: "mouse" | "wheel" | "key" | "text" | "compose" }>;

/** Input that a page has not taken yet; of a page that stands still, more is dropped. */
const maxPending = 200;

/** Hands a viewer's input to a page, in order and without waiting: a page that is busy gets it when it goes on. */
export interface LiveInput {
  send(input: Input): void;
  /** Lets go of the buttons and keys that are down: their viewer is gone, or looks at another page. */
  release(): void;
}

export function createLiveInput(cdp: CdpConnection, sessionId: string): LiveInput {
  let pending = 0;
  let buttons = 0;
  let position = { x: 0, y: 0 };
  const keys = new Map<string, Extract<Input, { type: "key" }>>();

  function dispatch(sent: Promise<unknown>): void {
    pending++;
    // What a page refuses, or takes with it when it goes, is nobody's failure.
    sent.catch(() => undefined).finally(() => pending--);
  }

  function key(input: Extract<Input, { type: "key" }>): void {
    const { action, key: name, code, key_code, location, text } = input;
    if (action === "down") keys.set(code + name, input);
    else keys.delete(code + name);
    const types = action === "down" && text !== undefined;
    dispatch(
      cdp.send(
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
          // CDP's location knows left and right; the number pad has a field of its own.
          location: location === 3 ? 0 : location,
          ...(types && { text, unmodifiedText: text }),
        },
        sessionId,
      ),
    );
  }

  function mouse({ action, x, y, button, buttons: down, clicks, modifiers }: Extract<Input, { type: "mouse" }>): void {
    position = { x, y };
    buttons = down;
    const types = { move: "mouseMoved", down: "mousePressed", up: "mouseReleased" } as const;
    dispatch(
      cdp.send(
        "Input.dispatchMouseEvent",
        { type: types[action], x, y, button, buttons: down, clickCount: clicks, modifiers, pointerType: "mouse" },
        sessionId,
      ),
    );
  }

  return {
    send(input) {
      // What lets go of something is never left out, nor is what was typed as long as there is room for it.
      const isLetGo = (input.type === "mouse" || input.type === "key") && input.action === "up";
      const isMove = input.type === "wheel" || (input.type === "mouse" && input.action === "move");
      if (pending >= (isMove ? maxPending / 4 : maxPending) && !isLetGo) return;
      switch (input.type) {
        case "mouse":
          mouse(input);
          break;
        case "key":
          key(input);
          break;
        case "wheel":
          dispatch(
            cdp.send(
              "Input.dispatchMouseEvent",
              {
                type: "mouseWheel",
                x: input.x,
                y: input.y,
                deltaX: input.delta_x,
                deltaY: input.delta_y,
                modifiers: input.modifiers,
                buttons,
                pointerType: "mouse",
              },
              sessionId,
            ),
          );
          break;
        case "text":
          dispatch(cdp.send("Input.insertText", { text: input.text }, sessionId));
          break;
        case "compose":
          dispatch(
            cdp.send("Input.imeSetComposition", { text: input.text, selectionStart: input.text.length, selectionEnd: input.text.length }, sessionId),
          );
          break;
      }
    },
    release() {
      for (const held of [...keys.values()]) key({ ...held, action: "up", repeat: false });
      const names = ["left", "right", "middle", "back", "forward"] as const;
      for (const [bit, button] of names.entries()) {
        if ((buttons & (1 << bit)) !== 0)
          mouse({ type: "mouse", action: "up", ...position, button, buttons: buttons & ~(1 << bit), clicks: 0, modifiers: 0 });
      }
    },
  };
}
