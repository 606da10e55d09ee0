import { invalid } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import type { Problem } from "../element/examine.ts";
import { type Written, writeValueFunction } from "../../node-input/write-value.ts";
import { secretTooLong, textRefused, unfitElement } from "../act-errors.ts";
import { type ActRun, Interrupted } from "../act-run.ts";
import type { ActTools } from "../act-tools.ts";
import type { ElementHandle } from "../../follow/element-handle.ts";
import {
  checkStateFunction,
  type CheckState,
  focusFunction,
  pickControlFunction,
  pickFieldFunction,
  prepareFillFunction,
  type PreparedField,
  type Selected,
  selectFunction,
  showsFunction,
} from "../element/field-functions.ts";
import { accessibleNode, describe } from "../element/describe.ts";
import { shownRole } from "../../reading/roles.ts";
import { framesOf } from "../../follow/frame-tree.ts";
import { clickReady } from "./click.ts";
import { fillSteps } from "./fill-steps.ts";
import { focusForKeys, hasFocusNowFunction, pressOn } from "./press.ts";

/** Longest wait for an option that is missing, in milliseconds: it may arrive with a request. */
const optionsMs = 2_000;
/** Milliseconds before each further look at a control that was clicked: about three seconds. */
const checkPausesMs = [10, 20, 50, ...Array<number>(30).fill(100)];

export interface FilledText {
  /** Instead of the text of the act. */
  readonly text?: string;
  /** The whole text goes to the field, or nothing, and no error contains it. */
  readonly isSecret?: boolean;
  /** Called before the text goes to the field. False looks for the field again; an error refuses it. */
  readonly check?: (field: ElementHandle) => Promise<boolean>;
  /** Called before the text goes to a field for passwords. */
  readonly onPassword?: () => void;
  /** Called before the text of a secret goes to the field. */
  readonly onWrite?: (() => void) | undefined;
}

/** Replaces the value of a field, as a person who selects its text and types. */
export async function fill(tools: ActTools, given: FilledText = {}): Promise<ElementHandle> {
  const { act, actionable, run } = tools;
  const { submit = false } = act;
  const { check, isSecret = false, text = act.text ?? "" } = given;
  const needs = { enabled: true, editable: true };
  const element = await actionable.untilUsed(
    { target: act, field: "body", needs, pick: pickFieldFunction },
    async ({ element: field }) => {
      if ((await check?.(field)) === false) return false;
      return fillNow(tools, field, { ...given, text, isSecret });
    },
  );
  run.hasBegun = true;
  return submit ? submitFrom(tools, element) : element;
}

/** A page may replace the field with its text, or leave with it: then it has submitted the text. */
async function submitFrom(tools: ActTools, filled: ElementHandle): Promise<ElementHandle> {
  const { act, actionable, run } = tools;
  let field: ElementHandle | undefined = filled;
  const [hasFocus, frames] = await Promise.all([focusForKeys(filled), framesOf(run)]);
  if (hasFocus === undefined) {
    const next = await actionable.finder.find(act, "body").catch((error: unknown) => {
      if (ServiceError.isInstance(error) && error.status < 500) return undefined;
      throw error;
    });
    field = next && ((await next.related(pickFieldFunction)) ?? next);
  }
  if (field === undefined) return filled;
  const counted = hasFocus === true && { frames: frames.size };
  await pressOn(tools, field, { keys: ["Enter"], field: "body.submit", ...counted });
  return field;
}

/** A dialog, or the end of the page, is an effect of a call that may change a field. */
async function changed<T>(run: ActRun, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Interrupted && error.kind !== "silent") run.hasBegun = true;
    throw error;
  }
}

async function fillNow(
  tools: ActTools,
  field: ElementHandle,
  { isSecret, onPassword, onWrite, text }: FilledText & { readonly isSecret: boolean; readonly text: string },
): Promise<boolean | Problem> {
  const { run } = tools;
  const prepared = await changed(run, field.call<PreparedField>(prepareFillFunction, text));
  if (prepared === undefined || prepared.kind === "gone") return false;
  if (prepared.kind === "inert") return "inert";
  if (prepared.kind === "malformed")
    throw ServiceError.of(invalid(isSecret ? "body.secret" : "body.text", prepared.problem));
  if (prepared.kind === "unfit" && !isSecret && /^(?:slider|spinbutton)$/.test((await describe(field))?.role ?? "")) {
    run.hasBegun = true;
    return fillSteps(tools, field, text);
  }
  const problem =
    prepared.kind === "unfit" ? prepared.problem : isSecret && prepared.kind === "steps" ? "is a slider" : undefined;
  if (problem !== undefined)
    throw ServiceError.of(
      unfitElement(await tools.describe(field), problem, "Use `check`, `select`, `upload` or `click` instead."),
    );
  if (prepared.kind === "set") return true;
  if (prepared.kind === "typed" && prepared.isPassword === true) onPassword?.();
  run.hasBegun = true;
  if (prepared.kind === "steps") return fillSteps(tools, field, text);
  if (prepared.kind === "keys" && !isSecret) return fillByKeys(tools, field, text);
  onWrite?.();
  const written = await field.call<Written>(writeValueFunction, text, isSecret);
  if (written === "refused") throw ServiceError.of(textRefused(await tools.describe(field)));
  if (written === "short") throw ServiceError.of(secretTooLong(await tools.describe(field)));
  if (written === "inert") return "inert";
  // A document that goes with the text has received it.
  return written !== "gone";
}

/** A part of a date field, such as its month, changes its value by keys. */
async function fillByKeys(tools: ActTools, field: ElementHandle, text: string): Promise<boolean> {
  if ((await field.call<boolean>(focusFunction)) === undefined) return false;
  // Typing replaces the old text if the browser edits it.
  await field.call("function () { getSelection().selectAllChildren(this); }");
  for (const key of text === "" ? Array<string>(4).fill("Backspace") : Array.from(text)) {
    // A full part moves the focus to the next one, which must not get the other keys.
    if ((await field.call<boolean>(hasFocusNowFunction)) !== true) {
      if (text === "") break;
      throw ServiceError.of(textRefused(await tools.describe(field)));
    }
    await pressOn(tools, field, { keys: [key], field: "body.text" });
  }
  if ((await field.call<boolean>(showsFunction, text)) === false)
    throw ServiceError.of(textRefused(await tools.describe(field)));
  return true;
}

/** Checks or unchecks with a click. */
export async function check(tools: ActTools): Promise<ElementHandle> {
  const { act, actionable } = tools;
  const wanted = act.accept ?? true;
  const found = await actionable.finder.wait(act, "body");
  const control = (await found.related(pickControlFunction)) ?? found;
  const before = await checkStateOf(control);
  if (before?.kind === "none")
    throw ServiceError.of(
      unfitElement(await tools.describe(control), "is not a checkbox, radio button or switch", "Use `click` instead."),
    );
  if (before?.kind === "radio" && !wanted)
    throw ServiceError.of(invalid("body.accept", "a radio button cannot be unchecked", { hint: "Check another one." }));
  if (before?.checked === wanted) return control;
  await clickReady(tools, { found, pick: pickControlFunction });
  const after = await stateAfter(tools, control, wanted);
  if (after !== undefined && after.kind !== "none" && after.checked !== wanted)
    throw ServiceError.of(
      unfitElement(
        await tools.describe(control),
        `stayed ${wanted ? "unchecked" : "checked"} after a click`,
        "Observe the page again.",
      ),
    );
  return control;
}

/** Many controls show their state when their server has answered: another click would undo this one. */
async function stateAfter({ run }: ActTools, control: ElementHandle, wanted: boolean): Promise<CheckState | undefined> {
  let state = await checkStateOf(control);
  for (const pauseMs of checkPausesMs) {
    const isOver = state === undefined || state.kind === "none" || state.checked === wanted;
    if (isOver || run.leftMs <= 0 || run.page.session.dialog !== undefined) break;
    await run.pause(pauseMs);
    state = await checkStateOf(control);
  }
  return state;
}

const toggleRoles = /^(?:checkbox|radio|switch|menuitemcheckbox|menuitemradio|treeitem|option)$/;

async function checkStateOf(control: ElementHandle): Promise<CheckState | undefined> {
  const stated = await control.call<CheckState>(checkStateFunction);
  if (stated === undefined || stated.isNative === true) return stated;
  const node = await accessibleNode(control);
  const role = shownRole(String(node?.role?.value ?? ""));
  if (!toggleRoles.test(role)) return stated;
  const told = (name: string): unknown => node?.properties?.find((property) => property.name === name)?.value.value;
  // An item with a check mark may be selected as well: because it was clicked, for example.
  const checked = told("checked") ?? told("selected");
  return {
    kind: role.endsWith("radio") ? "radio" : "box",
    checked: checked === "mixed" ? "mixed" : checked === "true" || checked === true,
  };
}

/** Chooses options of a native list. */
export async function select(tools: ActTools): Promise<ElementHandle> {
  const { act, actionable, run } = tools;
  const { values = [] } = act;
  const endMs = performance.now() + optionsMs;
  return actionable.untilUsed(
    { target: act, field: "body", needs: { enabled: true }, pick: pickControlFunction },
    async ({ element }) => {
      const selected = await changed(run, element.call<Selected>(selectFunction, values));
      if (selected === undefined || selected.problem === "gone") return false;
      if (selected.problem === "inert") return "inert";
      const { options = [], place = 0, problem } = selected;
      const field = `body.values[${String(place)}]`;
      if (problem === undefined) {
        run.hasBegun = true;
        return true;
      }
      switch (problem) {
        case "missing": {
          const hint = `Its options: ${options.join(", ")}.`;
          const missing = ServiceError.of(invalid(field, "the list has no such option", { hint }));
          if (performance.now() > endMs) throw missing;
          return missing;
        }
        case "ambiguous":
          throw ServiceError.of(
            invalid(field, "several options have this label", {
              hint: `Send the value of one: ${options.join(", ")}.`,
            }),
          );
        case "disabled":
          throw ServiceError.of(invalid(field, "the option is disabled", { hint: "Choose another one." }));
        case "single":
          throw ServiceError.of(invalid("body.values", "the list takes one option", { limit: 1 }));
        case "unfit":
          throw ServiceError.of(
            unfitElement(
              await tools.describe(element),
              "is not a <select>",
              "Click it, observe the page, and click the option.",
            ),
          );
      }
    },
  );
}
