import type { Refusal } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import { unfitElement } from "../act-errors.ts";
import type { ActTools } from "../act-tools.ts";
import type { ElementHandle } from "../element/element-handle.ts";
import { framesOf } from "../element/frames.ts";
import { focusFunction } from "../element/field-functions.ts";

/** Whether the element keeps the focus that it just got: frames of other sites can take it from it. */
const keepsFocusFunction = `async function () {
  const keeps = () => {
    const active = this.getRootNode().activeElement;
    const isActive = active === this || this.contains(active) || (this.shadowRoot?.activeElement ?? null) !== null;
    return isActive && (window === top || document.hasFocus());
  };
  for (let look = 0; look < 4; look++) {
    await new Promise((done) => { requestAnimationFrame(() => setTimeout(done, 5)); setTimeout(done, 50); });
    if (!keeps()) return false;
  }
  return true;
}`;

/** Notes whether this document receives the next key. */
const watchKeyFunction = `function () {
  globalThis.shoalKeys = 0;
  addEventListener("keydown", (event) => { if (event.isTrusted) globalThis.shoalKeys++; }, { capture: true, once: true });
}`;
const hasKeyFunction = `function () { return globalThis.shoalKeys > 0; }`;

/**
 * Presses keys in an element that has the focus. In a page with frames, each key is sent only while the element keeps
 * the focus, and the first that it does not receive is the last.
 */
export async function pressOn(
  tools: ActTools,
  element: ElementHandle | undefined,
  { field, keys }: { readonly field: string; readonly keys: readonly string[] },
): Promise<void> {
  const { run } = tools;
  const { session } = run.page;
  let isChecked = element !== undefined && (await framesOf(run)).length > 1;
  for (const [place, chord] of keys.entries()) {
    run.signal.throwIfAborted();
    // The dialog receives the other keys; the answer names it.
    if (session.dialog !== undefined || session.ended) break;
    if (isChecked && element !== undefined) await pressChecked(tools, element, { chord, field, isFirst: place === 0 });
    else {
      run.hasBegun = true;
      await tools.press(chord, field);
    }
    // The other keys follow the focus.
    if (leaves.test(chord)) isChecked = false;
  }
}

/** Keys that move the focus, perhaps to a frame. */
const leaves = /(?:^|\+)(?:Tab|F6)$/i;

async function pressChecked(
  tools: ActTools,
  element: ElementHandle,
  { chord, field, isFirst }: { readonly chord: string; readonly field: string; readonly isFirst: boolean },
): Promise<void> {
  if (isFirst) {
    await element.call(focusFunction);
    if ((await element.call<boolean>(keepsFocusFunction)) === false)
      throw ServiceError.of(await focusTaken(tools, element));
  }
  await element.call(watchKeyFunction);
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
