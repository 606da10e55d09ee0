import type { Refusal } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import { FrameShield } from "../../node-input/frame-shield.ts";
import { unfitElement } from "../act-errors.ts";
import { Interrupted } from "../act-run.ts";
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
  globalThis.shoalKeys?.stop();
  const guard = { seen: "none" };
  const decide = (event) => {
    if (!event.isTrusted) return;
    guard.stop();
    guard.seen = isOwn() ? "own" : "other";
    if (guard.seen === "own") return;
    event.stopImmediatePropagation();
    event.preventDefault();
  };
  guard.stop = () => {
    clearTimeout(timer);
    removeEventListener("keydown", decide, { capture: true });
  };
  // The action may end without a call.
  const timer = setTimeout(guard.stop, 15000);
  globalThis.shoalKeys = guard;
  if (isOwn()) addEventListener("keydown", decide, { capture: true });
  else guard.stop();
  return isOwn();
}`;
/** Ends the guard. Returns which part has received the key: the element, another one, or none that could be seen. */
const keySeenFunction = `function () {
  const { seen = "none", stop } = globalThis.shoalKeys ?? {};
  stop?.();
  return seen;
}`;
type KeySeen = "own" | "other" | "none";

/** Sets the focus, and guards the first key. Returns nothing for an element that has gone. */
const focusGuardedFunction = `function () {
  if (!this.isConnected) return undefined;
  return (${focusFunction}).call(this) && (${guardKeyFunction}).call(this, true);
}`;

/** Sets the focus for {@link pressOn}. Returns whether the element has it, `undefined` if it has gone. */
export function focusForKeys(element: ElementHandle): Promise<boolean | undefined> {
  return element.call<boolean>(focusGuardedFunction);
}

interface PressedKeys {
  /** In errors. */
  readonly field: string;
  readonly keys: readonly string[];
  /** Documents of the page, if they were counted after {@link focusForKeys}. */
  readonly frames?: number;
  /** Receives the check of a single key, which may end with the effects. */
  readonly later?: (check: Promise<void>) => void;
}

/**
 * Presses keys in an element. The first key goes to this element, or nowhere; the page may move the focus for the others.
 * In a page with frames, the others cannot take the focus meanwhile, and the first key that the element does not receive
 * is the last.
 */
export async function pressOn(
  tools: ActTools,
  element: ElementHandle | undefined,
  { field, frames, keys, later }: PressedKeys,
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
      else if (place === 0 && element !== undefined)
        await pressFirst(tools, element, {
          ...{ chord, field, hasFocus: frames !== undefined },
          ...(later !== undefined && keys.length === 1 && { later }),
        });
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

interface FirstKey extends Pick<PressedKeys, "field" | "later"> {
  readonly chord: string;
  readonly hasFocus: boolean;
}

/** In a page of one document. */
async function pressFirst(tools: ActTools, element: ElementHandle, { hasFocus: has, ...key }: FirstKey): Promise<void> {
  const refusal = () => focusTaken(tools, element, "the page moves it");
  if (!has && (await focusForKeys(element)) !== true) throw ServiceError.of(await refusal());
  tools.run.hasBegun = true;
  await tools.press(key.chord, key.field);
  const check = async (): Promise<void> => {
    // A list or a picker that the browser draws receives keys without an event.
    if ((await keySeen(element)) === "other") throw ServiceError.of(await refusal());
  };
  if (key.later === undefined) return check();
  const checked = check();
  checked.catch(() => undefined);
  key.later(checked);
}

/** A page that left, or opened a dialog, has received the key. */
async function keySeen(element: ElementHandle): Promise<KeySeen> {
  try {
    return (await element.call<KeySeen>(keySeenFunction)) ?? "own";
  } catch (error) {
    if (error instanceof Interrupted) return "own";
    throw error;
  }
}

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
  if ((await keySeen(element)) !== "own") throw ServiceError.of(await focusTaken(tools, element));
}

async function focusTaken(
  tools: ActTools,
  element: ElementHandle,
  reason = "a frame of the page takes it",
): Promise<Refusal> {
  return unfitElement(
    await tools.describe(element),
    `does not keep the focus: ${reason}`,
    "Use `fill` for a text, and `click` for a button.",
  );
}
