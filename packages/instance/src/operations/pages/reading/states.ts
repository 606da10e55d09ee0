import type { AccessibleState } from "../capture/accessibility.ts";
import type { DomNode } from "../capture/dom-snapshot.ts";
import { clean, isSecret, textBelow } from "./names.ts";
import { isField, roleOfItem } from "./roles.ts";

/** Shown in the place of a password of any length. */
const hiddenValue = "•••";
const maxValueCharacters = 1_000;
/** Their text is their value. */
export const textValueRoles: ReadonlySet<string> = new Set(["combobox", "searchbox", "spinbutton", "textbox"]);
const valueRoles: ReadonlySet<string> = new Set([
  ...textValueRoles,
  ...["meter", "progressbar", "scrollbar", "separator", "slider"],
]);

/** They may be in the box that opens them, and hold other controls than their items. */
export const popupRoles: ReadonlySet<string> = new Set(["dialog", "grid", "listbox", "menu", "tree"]);

/** The order in which states are shown. */
const shownStates: readonly AccessibleState[] = [
  ...(["checked", "mixed", "selected", "pressed", "disabled", "expanded", "collapsed"] as const),
  ...(["readonly", "required", "invalid", "busy"] as const),
];

/** States worth knowing, in a fixed order. */
export function statesOf(node: DomNode, isFocused: boolean): string[] {
  const told = roleOfItem(node) === undefined ? node.accessible?.states : undefined;
  const known = told ?? statedStates(node);
  const states: string[] = isFocused ? ["focused"] : [];
  const isList = node.tag === "select" || node.tag === "input";
  for (const state of shownStates) {
    // Chromium reports every closed list of options.
    if ((state === "collapsed" || state === "expanded") && isList && !has(node, "aria-expanded")) continue;
    if (known.has(state)) states.push(state);
  }
  const current = node.attribute("aria-current");
  if (current !== undefined && current !== "false" && current !== "") states.push("current");
  const sort = node.attribute("aria-sort");
  if (sort === "ascending" || sort === "descending") states.push(sort);
  if (node.attribute("draggable") === "true") states.push("draggable");
  return states;
}

export function isModal(node: DomNode, role: string): boolean {
  if (role !== "dialog" && role !== "alertdialog") return false;
  const isOnTop = node.style("overlay") === "auto" && node.attribute("popover") === undefined;
  return node.attribute("aria-modal") === "true" || isOnTop;
}

/** For elements that Chromium's tree does not report, or reports without their role. */
function statedStates(node: DomNode): ReadonlySet<AccessibleState> {
  const states = new Set<AccessibleState>();
  const is = (name: string): boolean => node.attribute(`aria-${name}`) === "true";
  if (node.document.checked.has(node.index) || is("checked")) states.add("checked");
  if (node.attribute("aria-checked") === "mixed") states.add("mixed");
  for (const state of ["selected", "pressed", "busy"] as const) if (is(state)) states.add(state);
  for (const state of ["disabled", "readonly", "required"] as const)
    if (is(state) || has(node, state)) states.add(state);
  if (has(node, "aria-expanded")) states.add(is("expanded") ? "expanded" : "collapsed");
  if (has(node, "aria-invalid") && node.attribute("aria-invalid") !== "false") states.add("invalid");
  return states;
}

function has(node: DomNode, attribute: string): boolean {
  return node.attribute(attribute) !== undefined;
}

/** The value of a field; `undefined` for elements without one. Never contains a password. */
export function fieldValue(node: DomNode, role: string): string | undefined {
  if (node.tag === "select") return selectedOf(node);
  if (node.tag === "input" && node.attribute("type")?.toLowerCase() === "file") return fileOf(node);
  if (!valueRoles.has(role)) return undefined;
  if (node.tag !== "input" && node.tag !== "textarea") {
    if (isSecret(node)) return hiddenValue;
    const stated = node.attribute("aria-valuetext") ?? node.attribute("aria-valuenow") ?? node.attribute("value");
    if (!textValueRoles.has(role)) return clean(stated ?? node.accessible?.value ?? "", 50);
    return clean(node.attribute("aria-valuenow") ?? textBelow(node, { except: isNotValue }), maxValueCharacters);
  }
  const value = node.document.fieldValueOf(node);
  if (value !== "" && holdsSecret(node)) return hiddenValue;
  return clean(value, maxValueCharacters);
}

/** In an editor or a box with a list: other controls, and the list. */
function isNotValue(node: DomNode): boolean {
  return isField(node) || popupRoles.has(node.attribute("role") ?? "");
}

/** Also fields that the login service filled: they show dots. */
export function holdsSecret(node: DomNode): boolean {
  return node.attribute("type")?.toLowerCase() === "password" || isSecret(node);
}

/** The name of the chosen file; of several files, what the browser says about them. */
function fileOf(node: DomNode): string | undefined {
  const path = node.document.fieldValueOf(node);
  if (path === "") return undefined;
  return clean(node.accessible?.value ?? path.replace(/^.*[\\/]/s, ""));
}

/** The choice, or all choices of a list. */
function selectedOf(node: DomNode): string | undefined {
  const selected = options(node).filter(({ isSelected }) => isSelected);
  if (selected.length < 2) return selected[0]?.label;
  return clean(selected.map(({ label }) => label).join(", "), maxValueCharacters);
}

export interface FieldOption {
  readonly label: string;
  readonly isSelected: boolean;
  readonly isDisabled: boolean;
  /** Whether a person cannot choose it, such as the text before the first choice. */
  readonly isHidden: boolean;
}

const maxOptions = 1_000;

export function options(node: DomNode): readonly FieldOption[] {
  const found: FieldOption[] = [];
  const visit = (at: DomNode): void => {
    for (const child of at.children) {
      if (found.length >= maxOptions) return;
      if (child.tag === "option")
        found.push({
          label: clean(child.attribute("label") ?? textBelow(child, { hidden: true }), 100),
          isSelected: child.document.selected.has(child.index),
          isDisabled: has(child, "disabled") || (at.tag === "optgroup" && has(at, "disabled")),
          isHidden: has(child, "hidden"),
        });
      else if (child.tag !== "selectedcontent") visit(child);
    }
  };
  visit(node);
  return found;
}
