import { invalid } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import { unfitElement } from "../act-errors.ts";
import type { ActTools } from "../act-tools.ts";
import type { ElementHandle } from "../../follow/element-handle.ts";
import { accessibleNode } from "../element/describe.ts";
import { focusFunction } from "../element/field-functions.ts";
import { pressOn } from "./press.ts";

const maxPresses = 500;
const maxAtOnce = 50;
/** Looks for a first change, and the milliseconds between two. */
const maxLooks = 12;
const lookMs = 20;
/** Longest wait for the value to rest, in milliseconds. */
const longestMs = 2_000;
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

/** After the timers that are due: a page may apply each key in one. */
const statedFunction = `async function () {
  await new Promise((done) => { setTimeout(done); });
  const read = (name, other) => { const value = parseFloat(this.getAttribute("aria-value" + name) ?? ""); return Number.isFinite(value) ? value : other; };
  return this.hasAttribute("aria-valuenow") ? { now: read("now", 0), min: read("min", 0), max: read("max", 100) } : null;
}`;

/** Assistive technology also gets the values of ElementInternals. */
async function readSteps(element: ElementHandle): Promise<Steps | undefined> {
  const stated = await element.call<Steps | null>(statedFunction);
  if (stated !== null) return stated;
  const node = await accessibleNode(element);
  if (node === undefined) return undefined;
  const read = (value: unknown, other: number): number => {
    const number = Number.parseFloat(String(value));
    return Number.isFinite(number) ? number : other;
  };
  const bound = (name: string): unknown => node.properties?.find((property) => property.name === name)?.value.value;
  return { now: read(node.value?.value, 0), min: read(bound("valuemin"), 0), max: read(bound("valuemax"), 100) };
}

/**
 * Waits a moment for a value other than `before`, then until it rests: a page may apply each key later. It rests after the
 * time that it took to change, at least `leastMs`.
 */
async function stepsAfter(
  { run }: ActTools,
  element: ElementHandle,
  { before, leastMs }: { readonly before: number; readonly leastMs: number },
): Promise<{ readonly now: number; readonly lateMs: number } | undefined> {
  const startMs = performance.now();
  let now = (await readSteps(element))?.now;
  for (let look = 0; look < maxLooks && now === before; look++) {
    await run.pause(lookMs);
    now = (await readSteps(element))?.now;
  }
  const lateMs = Math.max(leastMs, performance.now() - startMs);
  let sinceMs = performance.now();
  while (now !== undefined && now !== before && performance.now() - sinceMs < lateMs && sinceMs - startMs < longestMs) {
    await run.pause(lookMs);
    const next = (await readSteps(element))?.now;
    if (next !== now) sinceMs = performance.now();
    now = next;
  }
  return now === undefined ? undefined : { now, lateMs };
}

/** Moves a slider, or another control with a value, by its arrow keys. Returns false if it has gone. */
export async function fillSteps(tools: ActTools, element: ElementHandle, text: string): Promise<boolean> {
  const range = await readSteps(element);
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
    // Events repeat errors, and have no typed texts.
    const problem = `the number is between two steps of the control, which is at ${String(reached)} now`;
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
    const after = await stepsAfter(tools, element, { before: now, leastMs: lateMs });
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
