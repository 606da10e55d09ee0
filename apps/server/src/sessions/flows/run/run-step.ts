import { keysOfChord, type ReplayStep } from "@shoal/instance";
import type { FlowExpectation, FlowFallback, FlowStep, FlowTarget, StoredSecret } from "@shoal/schemas";
import { fillIn, soleParameter } from "../flow-content.ts";
import type { RowValues } from "./run-values.ts";

/** Other names of elements and texts, by the recorded ones. */
export type OtherNames = Readonly<Record<string, string>>;

/** A step for the instance, and the stored value that it types. */
export interface PreparedStep {
  readonly step: ReplayStep;
  readonly secret: StoredSecret | undefined;
}

/** Roles whose click a person can take back. */
const harmless: ReadonlySet<string> = new Set(["link", "tab", "option", "treeitem", "heading", "textbox", "searchbox"]);

/** Replaces parameters and names in a step. */
export function prepareStep(flowStep: FlowStep, values: RowValues, names: OtherNames): PreparedStep {
  const named = (text: string): string =>
    fillIn(Object.hasOwn(names, text) ? (names[text] ?? text) : text, values.texts);
  const { action, expect, keys, target, text, timeout_ms: timeoutMs, url } = flowStep;
  const parameter = action === "fill" ? soleParameter(text) : undefined;
  const secret = flowStep.secret ?? (parameter === undefined ? undefined : values.secrets.get(parameter));
  const { accept, button, click_count, delta_x, delta_y, submit } = flowStep;
  const fields = { accept, button, click_count, delta_x, delta_y, submit };
  const act =
    action === "expect"
      ? undefined
      : {
          type: action,
          ...(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as typeof fields),
          ...(secret === undefined ? text !== undefined && { text: fillIn(text, values.texts) } : { secret }),
          ...(flowStep.values && { values: flowStep.values.map(named) }),
          ...(keys && { keys }),
          ...(url !== undefined && { url: fillIn(url, values.texts) }),
        };
  return {
    secret,
    step: {
      ...(act && { act }),
      ...(target && { target: targetWith(target, named) }),
      is_guarded: isGuarded(flowStep, secret),
      expect: expect.map((one) => expectationWith(one, named, values)),
      timeout_ms: timeoutMs,
    },
  };
}

function isGuarded({ action, keys = [], submit, target }: FlowStep, secret: StoredSecret | undefined): boolean {
  if (secret !== undefined || submit === true) return true;
  if (action === "press") return keys.some(pressesButton);
  return action === "click" && !harmless.has(target?.role ?? "");
}

/** Enter and Space press the focused button, by any of their names. */
function pressesButton(chord: string): boolean {
  const keys = keysOfChord(chord);
  return keys === undefined || keys.some(({ code, key }) => key === "Enter" || code === "Space");
}

type Named = (text: string) => string;

function targetWith({ fallbacks, name, role, within }: FlowTarget, named: Named): FlowTarget {
  return {
    ...(role !== undefined && { role }),
    ...(name !== undefined && { name: named(name) }),
    ...(within && { within: { role: within.role, name: named(within.name) } }),
    fallbacks: fallbacks.map(({ by, value }): FlowFallback => ({ by, value: named(value) })),
  };
}

function expectationWith({ element, state, text, url }: FlowExpectation, named: Named, { texts }: RowValues) {
  return {
    ...(url !== undefined && { url: fillIn(url, texts) }),
    ...(text !== undefined && { text: named(text) }),
    ...(element && { element: { role: element.role, name: named(element.name) } }),
    ...(state && { state }),
  };
}
