import type { Refusal } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import { FrameShield } from "../../node-input/frame-shield.ts";
import { unfitElement } from "../act-errors.ts";
import type { ActTools } from "../act-tools.ts";
import type { ElementHandle } from "../../follow/element-handle.ts";
import { framesOf } from "../../follow/frame-tree.ts";
import { focusFunction } from "../element/field-functions.ts";

/** Whether the element has the focus, also in the page around its frame. */
const hasFocus = `
  const hasFocus = () => {
    const active = this.getRootNode().activeElement;
    const isActive = active === this || this.contains(active) || (this.shadowRoot?.activeElement ?? null) !== null;
    return isActive && (window === top || document.hasFocus());
  };`;
const hasFocusFunction = `async function () {${hasFocus}
  await new Promise((done) => { requestAnimationFrame(() => setTimeout(done, 5)); setTimeout(done, 50); });
  return hasFocus();
}`;

/** Whether the element has the focus now. */
export const hasFocusNowFunction = `function () {${hasFocus} return hasFocus(); }`;

/**
 * Decides the next key at the moment of its input: no listener of the page receives it if the element does not have the
 * focus, or a frame has it. Argument: whether it is the first key; the page may move the focus for the others. Returns
 * whether the key may be sent.
 */
const guardKeyFunction = `function (isFirst) {${hasFocus}
  const isFrame = (one) => /^(?:iframe|frame|object|embed|fencedframe)$/.test(one?.localName ?? "");
  const isOwn = () => isFirst ? hasFocus() : !isFrame(document.activeElement) && (window === top || document.hasFocus());
  globalThis.shoalKeys = 0;
  addEventListener("keydown", (event) => {
    if (!event.isTrusted) return;
    if (isOwn()) return globalThis.shoalKeys++;
    event.stopImmediatePropagation();
    event.preventDefault();
  }, { capture: true, once: true });
  return isOwn();
}`;
const hasKeyFunction = `function () { return globalThis.shoalKeys > 0; }`;

interface PressedKeys {
  /** In errors. */
  readonly field: string;
  readonly keys: readonly string[];
  /** Documents of the page, if they were counted after the element got the focus. */
  readonly frames?: number;
}

/**
 * Presses keys in an element that has the focus. In a page with frames, the others cannot take the focus meanwhile, and
 * the first key that the element does not receive is the last.
 */
export async function pressOn(
  tools: ActTools,
  element: ElementHandle | undefined,
  { field, frames, keys }: PressedKeys,
): Promise<void> {
  const { run } = tools;
  const { session } = run.page;
  let isGuarded = element !== undefined;
  let shield: FrameShield | undefined;
  try {
    for (const [place, chord] of keys.entries()) {
      run.signal.throwIfAborted();
      // The dialog receives the other keys; the answer names it.
      if (session.dialog !== undefined || session.ended) break;
      // A key may add the first frame.
      const isFirst = place === 0 && frames !== undefined;
      if (isGuarded && element !== undefined && (isFirst ? frames : (await framesOf(run)).size) > 1)
        shield ??= await FrameShield.raise(run.page, element);
      if (shield !== undefined && element !== undefined)
        await pressGuarded(tools, element, { chord, field, isFirst: place === 0 });
      else {
        run.hasBegun = true;
        await tools.press(chord, field);
      }
      // The other keys follow the focus.
      if (!leaves.test(chord)) continue;
      void shield?.lower();
      shield = undefined;
      isGuarded = false;
    }
  } finally {
    void shield?.lower();
  }
}

/** Keys that move the focus, perhaps to a frame. */
const leaves = /(?:^|\+)(?:Tab|F6)$/i;

async function pressGuarded(
  tools: ActTools,
  element: ElementHandle,
  { chord, field, isFirst }: { readonly chord: string; readonly field: string; readonly isFirst: boolean },
): Promise<void> {
  if (isFirst) {
    await element.call(focusFunction);
    if ((await element.call<boolean>(hasFocusFunction)) === false)
      throw ServiceError.of(await focusTaken(tools, element));
  }
  if ((await element.call<boolean>(guardKeyFunction, isFirst)) === false)
    throw ServiceError.of(await focusTaken(tools, element));
  tools.run.hasBegun = true;
  await tools.press(chord, field);
  if ((await element.call<boolean>(hasKeyFunction)) === false) throw ServiceError.of(await focusTaken(tools, element));
}

async function focusTaken(tools: ActTools, element: ElementHandle): Promise<Refusal> {
  return unfitElement(
    await tools.describe(element),
    "does not keep the focus: a frame of the page takes it",
    "Use `fill` for a text, and `click` for a button.",
  );
}
