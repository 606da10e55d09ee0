import type { Refusal } from "@shoal/contract/refusals";
import type { KnownElement } from "./references.ts";
import type { ListedTab } from "./tab-list.ts";

/** Tabs named in a hint. */
const maxNamed = 10;
const maxCandidates = 5;

export function unknownTab(id: string, tabs: readonly ListedTab[]): Refusal {
  return {
    status: 404,
    code: "not_found",
    problem: `The session has no tab ${id}`,
    field: "body.tab",
    hint: tabs.length === 0 ? "It has no open tab." : `Open tabs: ${listOf(tabs)}.`,
  };
}

export const noTab = {
  status: 409,
  code: "conflict",
  problem: "The browser has no open tab",
  hint: "Open one with `open_tab`.",
} as const satisfies Refusal;

export function staleReference(element: string): Refusal {
  return {
    status: 409,
    code: "stale_reference",
    problem: `${element} was removed`,
    field: "body.ref",
    hint: "Observe the page again.",
  };
}

export function unknownReference(ref: string, tabId?: string): Refusal {
  return {
    status: 409,
    code: "stale_reference",
    problem: `${ref} is not a reference of an outline of ${tabId ?? "this session"}`,
    field: "body.ref",
    hint: "Observe the page again.",
  };
}

function listOf(tabs: readonly ListedTab[]): string {
  const named = tabs.slice(0, maxNamed).map(({ id, title, url }) => `${id} (${(title || url).slice(0, 60)})`);
  return `${named.join(", ")}${tabs.length > maxNamed ? ` and ${String(tabs.length - maxNamed)} more` : ""}`;
}

/** `e12 (button "Save")` */
export function describeElement({ name, ref, role }: NamedElement): string {
  return `${ref} (${role}${name === "" ? "" : ` "${name.slice(0, 100)}"`})`;
}

/** An element that a message names. */
export type NamedElement = Pick<KnownElement, "name" | "ref" | "role">;

/** @param similar - at most five are named. */
export function elementNotFound(wanted: string, similar: readonly NamedElement[]): Refusal {
  return {
    status: 404,
    code: "element_not_found",
    problem: `The page has no ${wanted}`,
    hint:
      similar.length === 0
        ? "Observe the page."
        : `Similar elements: ${similar.slice(0, maxCandidates).map(describeElement).join(", ")}.`,
  };
}

/** @param found - at most five are named. @param total - number of matches. */
export function ambiguousTarget(wanted: string, found: readonly NamedElement[], total = found.length): Refusal {
  const more = total > maxCandidates ? ` and ${String(total - maxCandidates)} more` : "";
  return {
    status: 409,
    code: "ambiguous_target",
    problem: `${String(total)} elements match ${wanted}`,
    hint: `Use one of these references: ${found.slice(0, maxCandidates).map(describeElement).join(", ")}${more}.`,
  };
}

export function pageNotResponding(tab: string, reason: string): Refusal {
  return {
    status: 409,
    code: "page_not_responding",
    problem: `The page of ${tab} ${reason}`,
    hint: "Try again, answer its dialog, or navigate it to another address.",
  };
}

/** Only the dialog receives input, and the page does not answer. */
export function dialogOpen(
  tab: string,
  { message, type }: { readonly type: string; readonly message?: string },
): Refusal {
  const shown = message === undefined ? "" : `: ${JSON.stringify(message.slice(0, 200))}`;
  return {
    status: 409,
    code: "dialog_open",
    problem: `A dialog (${type}${shown}) is open in ${tab} and blocks the page`,
    hint: "Answer it first: `answer_dialog`, with `accept: false` to dismiss it.",
  };
}
