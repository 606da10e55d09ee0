import type { DomNode } from "./dom-snapshot.ts";
import { clean, isSecret, textBelow } from "./names.ts";
import { isField } from "./roles.ts";

/** Shown in the place of a password of any length. */
const hiddenValue = "•••";
const maxValueCharacters = 1_000;

/** States worth knowing, in a fixed order. */
export function statesOf(node: DomNode, role: string, isFocused: boolean): string[] {
  const states: string[] = [];
  if (isFocused) states.push("focused");
  if (isChecked(node, role)) states.push("checked");
  if (node.attribute("aria-checked") === "mixed") states.push("mixed");
  if (node.attribute("aria-selected") === "true") states.push("selected");
  if (node.attribute("aria-pressed") === "true") states.push("pressed");
  if (isDisabled(node)) states.push("disabled");
  const expanded = expansionOf(node);
  if (expanded !== undefined) states.push(expanded ? "expanded" : "collapsed");
  const current = node.attribute("aria-current");
  if (current !== undefined && current !== "false" && current !== "") states.push("current");
  if (has(node, "readonly")) states.push("readonly");
  if (has(node, "required")) states.push("required");
  const invalid = node.attribute("aria-invalid");
  if (invalid !== undefined && invalid !== "false" && invalid !== "") states.push("invalid");
  if (node.attribute("aria-busy") === "true") states.push("busy");
  return states;
}

function isChecked(node: DomNode, role: string): boolean {
  if (node.tag === "input" && (role === "checkbox" || role === "radio" || role === "switch"))
    return node.document.checked.has(node.index);
  return node.attribute("aria-checked") === "true";
}

function isDisabled(node: DomNode): boolean {
  if (has(node, "disabled") && (isField(node) || node.tag === "button" || node.tag === "option")) return true;
  if (node.attribute("aria-disabled") === "true") return true;
  if (!isField(node) && node.tag !== "button") return false;
  let at = node.parent;
  for (let depth = 0; at !== undefined && depth < 50; depth++, at = at.parent)
    if (at.tag === "fieldset" && at.attribute("disabled") !== undefined) return true;
  return false;
}

function expansionOf(node: DomNode): boolean | undefined {
  const stated = node.attribute("aria-expanded");
  if (stated === "true" || stated === "false") return stated === "true";
  return node.tag === "summary" && node.parent?.tag === "details"
    ? node.parent.attribute("open") !== undefined
    : undefined;
}

function has(node: DomNode, attribute: "disabled" | "readonly" | "required"): boolean {
  return node.attribute(attribute) !== undefined || node.attribute(`aria-${attribute}`) === "true";
}

/** The value of a field; `undefined` for elements without one. Never contains a password. */
export function fieldValue(node: DomNode, role: string): string | undefined {
  if (node.tag === "select") return options(node).find(({ isSelected }) => isSelected)?.label;
  const isText = role === "textbox" || role === "searchbox" || role === "spinbutton" || role === "slider";
  if (!isText && role !== "combobox") {
    const now = node.attribute("aria-valuetext") ?? node.attribute("aria-valuenow") ?? node.attribute("value");
    return (role === "progressbar" || role === "meter") && now !== undefined ? clean(now, 50) : undefined;
  }
  if (node.tag !== "input" && node.tag !== "textarea")
    return isSecret(node)
      ? hiddenValue
      : clean(node.attribute("aria-valuenow") ?? textBelow(node, false), maxValueCharacters);
  const value = node.document.valueOf(node);
  if (value !== "" && holdsSecret(node)) return hiddenValue;
  return clean(value, maxValueCharacters);
}

/** Also fields that the login service filled: they show dots. */
export function holdsSecret(node: DomNode): boolean {
  return node.attribute("type")?.toLowerCase() === "password" || isSecret(node);
}

export interface FieldOption {
  readonly label: string;
  readonly isSelected: boolean;
}

const maxOptions = 1_000;

export function options(node: DomNode): readonly FieldOption[] {
  const found: FieldOption[] = [];
  const visit = (at: DomNode): void => {
    for (const child of at.children) {
      if (found.length >= maxOptions) return;
      if (child.tag === "option")
        found.push({
          label: clean(child.attribute("label") ?? child.children.map(({ value }) => value).join(""), 100),
          isSelected: child.document.selected.has(child.index),
        });
      else if (child.tag === "optgroup") visit(child);
    }
  };
  visit(node);
  return found;
}
