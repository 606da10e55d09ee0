import type { OutlineLine } from "./lines.ts";

/** What a change means for the next step, the most important first. */
export const changeRanks = ["urgent", "choice", "shown", "far", "removed", "ticking"] as const;
export type ChangeRank = (typeof changeRanks)[number];

const urgentRoles: ReadonlySet<string> = new Set(["alert", "alertdialog", "dialog", "status"]);
const choiceRoles: ReadonlySet<string> = new Set([
  ...["listbox", "menu", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "tree", "treeitem"],
]);
const maxLevels = 100;
/** Lines this close to the focused element belong to it. */
const nearLines = 5;

/** @param before - the earlier line of the same node. @param distance - lines to the focused element. */
export function changeRank(
  line: OutlineLine,
  before: { readonly text: string } | undefined,
  distance: number,
): ChangeRank {
  const { elements, isVisible, text } = line;
  if (before !== undefined && withoutNumbers(before.text) === withoutNumbers(text) && !hasUsable(line))
    return "ticking";
  const isInvalid = elements.some(({ states }) => states.includes("invalid"));
  if (isInvalid && !/\[[^\]"[]*\binvalid\b/.test(before?.text ?? "")) return "urgent";
  let at: OutlineLine | undefined = line;
  for (let level = 0; at !== undefined && level < maxLevels; level++, at = at.parent)
    if (at.element !== undefined && urgentRoles.has(at.element.role)) return "urgent";
  if (distance <= nearLines || elements.some(({ role }) => choiceRoles.has(role))) return "choice";
  return isVisible ? "shown" : "far";
}

export function hasUsable({ elements }: OutlineLine): boolean {
  return elements.some(({ isUsable }) => isUsable);
}

export function withoutNumbers(text: string): string {
  return text.replaceAll(/\d+/g, "0");
}
