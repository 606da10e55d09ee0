import { invalid } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import { unfitElement } from "../act-errors.ts";
import type { ActTools } from "../act-tools.ts";
import type { ElementHandle } from "../../follow/element-handle.ts";
import { focusFunction } from "../element/field-functions.ts";
import { pressOn } from "./press.ts";

const maxPresses = 500;
const maxAtOnce = 50;
/** Sliders go up with both keys, separators with one of them. */
const axes = [
  ["ArrowDown", "ArrowUp"],
  ["ArrowLeft", "ArrowRight"],
] as const;

interface Steps {
  readonly now: number;
  readonly min: number;
  readonly max: number;
}

const stepsFunction = `function () {
  const read = (name, other) => { const value = parseFloat(this.getAttribute("aria-value" + name) ?? ""); return Number.isFinite(value) ? value : other; };
  return { now: read("now", 0), min: read("min", 0), max: read("max", 100) };
}`;
/**
 * Waits a moment for a value other than the first argument, then until it rests: a page may apply each key later. It rests
 * after the time that it took to change, at least the second argument. Returns the value and that time.
 */
const stepsAfterFunction = `async function (before, leastMs) {
  const read = () => parseFloat(this.getAttribute("aria-valuenow") ?? "");
  const pause = () => new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 30); });
  const start = performance.now();
  for (let look = 0; look < 10 && read() === before; look++) await pause();
  const lateMs = Math.max(leastMs, performance.now() - start);
  let [last, since] = [read(), performance.now()];
  while (last !== before && performance.now() - since < lateMs && performance.now() - start < 2000) {
    await pause();
    if (read() !== last) [last, since] = [read(), performance.now()];
  }
  return { now: read(), lateMs };
}`;

/** Moves a slider, or another control with a value, by its arrow keys. Returns false if it has gone. */
export async function fillSteps(tools: ActTools, element: ElementHandle, text: string): Promise<boolean> {
  const range = await element.call<Steps>(stepsFunction);
  if (range === undefined) return false;
  const { max, min } = range;
  await element.call(focusFunction);
  const wanted = Number(text);
  if (text.trim() === "" || !(wanted >= min && wanted <= max))
    throw ServiceError.of(invalid("body.text", `must be a number from ${String(min)} to ${String(max)}`));
  for (const keys of axes) {
    const reached = await walk(tools, element, { keys, now: range.now, wanted });
    if (reached === undefined) return false;
    if (reached === wanted) return true;
    if (reached === range.now) continue;
    const problem = `${text} is between two steps of the control, which is at ${String(reached)} now`;
    throw ServiceError.of(invalid("body.text", problem));
  }
  const described = await tools.describe(element);
  throw ServiceError.of(unfitElement(described, "does not react to arrow keys", "Use `drag` or `click` instead."));
}

/** Returns the value at the end; the first one if the keys do not change it. */
async function walk(
  tools: ActTools,
  element: ElementHandle,
  way: { readonly keys: readonly [string, string]; readonly now: number; readonly wanted: number },
): Promise<number | undefined> {
  const { wanted } = way;
  let { now } = way;
  let step = Infinity;
  let lateMs = 0;
  for (let pressed = 0; pressed < maxPresses && now !== wanted;) {
    const isUp = now < wanted;
    const count = Math.max(1, Math.min(maxAtOnce, Math.floor(Math.abs(wanted - now) / step) || 1));
    const startMs = performance.now();
    await pressOn(tools, element, { keys: Array<string>(count).fill(way.keys[isUp ? 1 : 0]), field: "body.text" });
    pressed += count;
    const sentMs = performance.now() - startMs;
    const after = await element.call<{ now: number; lateMs: number }>(stepsAfterFunction, now, lateMs);
    if (after === undefined) return undefined;
    const next = after.now;
    // The first key is alone: this is how long the page takes for one.
    if (lateMs === 0) lateMs = sentMs + after.lateMs;
    const hasPassed = isUp ? next > wanted : next < wanted;
    if (next === now || hasPassed) return next;
    step = Math.abs(next - now) / count;
    now = next;
  }
  return now;
}
