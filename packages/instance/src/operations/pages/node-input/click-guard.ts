import { hitTest } from "./hit-test.ts";

/** The receiver of a click: the element, another one of its document, or none that could be seen. */
export type ClickSeen = "hit" | "missed" | "unseen";

/**
 * Decides a click at the moment of its input, by a hit test: if the element is not under the pointer then, no listener
 * of the page receives the click.
 */
export const guardFunction = `function () {${hitTest}
  globalThis.shoalGuard?.stop();
  const types = ["pointerdown", "mousedown", "pointerup", "mouseup", "click", "auxclick", "dblclick", "contextmenu"];
  const guard = { seen: "unseen" };
  const isTravelling = () => this.isConnected && document.getAnimations().slice(0, 100)
    .some(({ effect, playState }) => playState === "running" && effect?.target?.contains(this));
  const decide = (event) => {
    if (!event.isTrusted) return;
    if (guard.seen === "unseen")
      guard.seen = this.isConnected && coverAt(this, event.clientX, event.clientY) === undefined ? "hit" : "missed";
    // It travelled on between press and release; the page's reaction to a press may do the same without an animation.
    if (guard.seen === "hit" && event.type === "click" && isTravelling() && coverAt(this, event.clientX, event.clientY) !== undefined)
      guard.seen = "missed";
    if (guard.seen === "hit") return;
    event.stopImmediatePropagation();
    event.preventDefault();
  };
  for (const type of types) addEventListener(type, decide, { capture: true });
  guard.stop = () => {
    clearTimeout(timer);
    for (const type of types) removeEventListener(type, decide, { capture: true });
    globalThis.shoalGuard = undefined;
  };
  // The action may end without a call.
  const timer = setTimeout(guard.stop, 15000);
  globalThis.shoalGuard = guard;
}`;

/** Ends the guard. Returns a {@link ClickSeen}. */
export const guardedFunction = `function () {
  const { seen = "hit", stop } = globalThis.shoalGuard ?? {};
  stop?.();
  return seen;
}`;
