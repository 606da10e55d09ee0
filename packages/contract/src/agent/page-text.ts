import type { ActResult, BrowserTab, PageDialog, PageObservation, PageText } from "@shoal/schemas";

/** An outline for a model. */
export function observationText(page: PageObservation): string {
  const { above, below } = page.scroll;
  return lines(
    `${page.title === "" ? "(no title)" : page.title} — ${page.url}`,
    page.tabs.length > 1 && `Tabs: ${page.tabs.map(tabText).join("; ")}`,
    page.dialog !== undefined && dialogText(page.dialog),
    (above > 0 || below > 0) && `Hidden: ${String(above)} px above, ${String(below)} px below`,
    page.left_out > 0 && `${String(page.left_out)} elements left out: raise max_tokens, or pass ref`,
    page.diff ? (page.outline === "" ? "No changes." : "Changes (+ added, - removed, ~ changed):") : "Page:",
    page.outline,
  );
}

/** The effects of an action for a model. */
export function actText(result: ActResult): string {
  const { dialog, downloads, element, observation } = result;
  return lines(
    element !== undefined &&
      `${element.role} "${element.name}" [${element.ref}]${[...element.states, ...(element.value === undefined ? [] : [`value "${element.value}"`])].map((state) => ` ${state}`).join("")}`,
    result.navigated && `Navigated${result.status === undefined ? "" : ` (${String(result.status)})`}`,
    result.new_tabs.length > 0 && `New tabs: ${result.new_tabs.map(tabText).join("; ")}`,
    downloads.length > 0 && `Downloads: ${downloads.join(", ")}`,
    result.failed_requests.length > 0 &&
      `Failed requests: ${result.failed_requests.map(({ error, method, status, url }) => `${method} ${url} ${String(status ?? error ?? "")}`).join("; ")}`,
    !result.settled && "The page is still changing.",
    observation === undefined && dialog !== undefined && dialogText(dialog),
    observation === undefined ? `${result.title} — ${result.url}` : observationText(observation),
  );
}

/** A part of a page's Markdown for a model. */
export function markdownText({ markdown, next_offset: next, title, url }: PageText): string {
  return `${title} — ${url}\n\n${markdown}${next === undefined ? "" : `\n\nContinue with offset ${String(next)}.`}`;
}

function tabText({ active, id, title, url }: BrowserTab): string {
  return `${id}${active ? " (front)" : ""} ${title} ${url}`;
}

function dialogText({ message, type }: PageDialog): string {
  return `Open ${type} dialog: "${message}". Use answer_dialog.`;
}

function lines(...parts: readonly (string | false)[]): string {
  return parts.filter((part) => part !== false && part !== "").join("\n");
}
