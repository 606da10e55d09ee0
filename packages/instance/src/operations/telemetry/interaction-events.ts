import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import * as z from "zod/mini";
import { secretFieldHelpers } from "../../secrets/secret-field.ts";
import { Cutter } from "./cut.ts";
import type { TelemetryRecorder } from "./recorder.ts";
import { contextOf, type WatchedTarget } from "./watched-target.ts";

/** Isolated world of the script below; pages cannot see it. */
export const interactionWorld = "shoal-telemetry";
export const interactionBinding = "shoalTelemetry";

/** Runs in an isolated world of each frame; a second run there has no effect. */
export const interactionScript = `(() => {
  if (globalThis.shoalTelemetryRuns) return;
  globalThis.shoalTelemetryRuns = true;
  const tell = (report) => { globalThis.${interactionBinding}?.(JSON.stringify(report)); };
  ${secretFieldHelpers}
  const selectorOf = (element) => {
    const steps = [];
    for (let at = element; at instanceof Element && steps.length < 12; at = at.parentElement) {
      if (at.id) { steps.unshift("#" + CSS.escape(at.id)); break; }
      const name = at.localName;
      const alike = at.parentElement ? [...at.parentElement.children].filter((child) => child.localName === name) : [at];
      steps.unshift(alike.length > 1 ? name + ":nth-of-type(" + (alike.indexOf(at) + 1) + ")" : name);
    }
    return steps.join(" > ");
  };
  const elementOf = (event) => event.composedPath().find((target) => target instanceof Element);
  addEventListener("click", (event) => {
    const element = elementOf(event);
    if (!event.isTrusted || !element) return;
    const text = isSecret(element) ? undefined : (element.textContent ?? "").trim().replace(/\\s+/g, " ").slice(0, 200);
    tell({ kind: "click", x: Math.round(event.clientX), y: Math.round(event.clientY), selector: selectorOf(element), tag: element.tagName.toUpperCase(), text: text || undefined });
  }, { capture: true, passive: true });
  addEventListener("keydown", (event) => {
    const element = elementOf(event);
    if (!event.isTrusted || !element || isSecret(element)) return;
    tell({ kind: "key", key: event.key, selector: selectorOf(element), tag: element.tagName.toUpperCase() });
  }, { capture: true, passive: true });
  const scrolls = new Map();
  const positionOf = (target) => target instanceof Element ? [Math.round(target.scrollLeft), Math.round(target.scrollTop)] : [Math.round(scrollX), Math.round(scrollY)];
  const positions = new WeakMap();
  addEventListener("scroll", (event) => {
    const target = event.target;
    if (!target) return;
    const scroll = scrolls.get(target) ?? { from: positions.get(target) ?? [0, 0], timer: 0 };
    scrolls.set(target, scroll);
    clearTimeout(scroll.timer);
    scroll.timer = setTimeout(() => {
      scrolls.delete(target);
      const to = positionOf(target);
      positions.set(target, to);
      if (to[0] === scroll.from[0] && to[1] === scroll.from[1]) return;
      const element = target instanceof Element ? target : document.scrollingElement;
      tell({ kind: "scroll", from: scroll.from, to, selector: element ? selectorOf(element) : "" });
    }, 150);
  }, { capture: true, passive: true });
})()`;

const Text = z.string();
const Pair = z.tuple([z.int(), z.int()]);
const Told = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("click"), x: z.int(), y: z.int(), selector: Text, tag: Text, text: z.optional(Text) }),
  z.object({ kind: z.literal("key"), key: Text, selector: Text, tag: Text }),
  z.object({ kind: z.literal("scroll"), from: Pair, to: Pair, selector: Text }),
]);

export function recordInteraction(
  recorder: TelemetryRecorder,
  target: WatchedTarget,
  { executionContextId, name, payload }: Protocol.Runtime.BindingCalledEvent,
): void {
  if (name !== interactionBinding) return;
  const told = parse(payload);
  if (told === undefined) return;
  const cutter = new Cutter();
  const source = { kind: "extension" } as const;
  const context = contextOf(target, target.contexts.get(executionContextId));
  const selector = cutter.text(told.selector, 2048);
  switch (told.kind) {
    case "click":
      recorder.record({
        type: "interaction_click",
        category: "interaction",
        source: { ...source, event: "click" },
        data: {
          ...context,
          x: told.x,
          y: told.y,
          selector,
          tag: cutter.text(told.tag, 256),
          ...(told.text !== undefined && { text: cutter.text(told.text, 1024) }),
        },
        ...cutter.mark,
      });
      return;
    case "key":
      recorder.record({
        type: "interaction_key",
        category: "interaction",
        source: { ...source, event: "keydown" },
        data: { ...context, key: cutter.text(told.key, 256), selector, tag: cutter.text(told.tag, 256) },
        ...cutter.mark,
      });
      return;
    case "scroll":
      recorder.record({
        type: "interaction_scroll_settled",
        category: "interaction",
        source: { ...source, event: "scroll" },
        data: {
          ...context,
          from_x: told.from[0],
          from_y: told.from[1],
          to_x: told.to[0],
          to_y: told.to[1],
          target_selector: selector,
        },
        ...cutter.mark,
      });
  }
}

function parse(payload: string): z.output<typeof Told> | undefined {
  try {
    const result = z.safeParse(Told, JSON.parse(payload));
    return result.success ? result.data : undefined;
  } catch {
    return undefined;
  }
}
