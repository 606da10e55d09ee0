import type { ActResult, PageDialog, PageObservation } from "@shoal/schemas";
import { printable } from "./format.ts";

const answerFlag = "--type answer_dialog";

/** Returns the effects of an action on a page, for people. @param answer - the command that answers a dialog. */
export function actLines(result: ActResult, answer = answerFlag): readonly string[] {
  const { dialog, downloads, element, failed_requests, navigated, new_tabs, observation, settled, tab } = result;
  const page = `${tab} ${printable(result.url)}${result.title === "" ? "" : ` ${quoted(result.title)}`}`;
  const status = result.status === undefined ? "" : ` (${String(result.status)})`;
  return [
    ...(element === undefined ? [] : [describe(element)]),
    navigated ? `Navigated: ${page}${status}` : `Page: ${page}`,
    ...new_tabs.map(
      ({ id, title, url }) => `New tab: ${id} ${printable(url)}${title === "" ? "" : ` ${quoted(title)}`}`,
    ),
    ...dialogLines(dialog, answer),
    ...downloads.map((name) => `Download: ${printable(name)}`),
    ...failed_requests.map(
      ({ error, method, status: code, url }) =>
        `Failed: ${printable(`${method} ${url} ${String(code ?? error ?? "")}`)}`,
    ),
    ...(settled ? [] : ["The page was still changing at the end of the wait."]),
    ...(observation === undefined ? [] : ["", ...observation.outline.split("\n").map(printable)]),
  ];
}

/** Returns an outline with its page, for people. @param answer - the command that answers a dialog. */
export function outlineLines(
  { dialog, diff, outline, tab, tabs, title, url }: PageObservation,
  answer = answerFlag,
): readonly string[] {
  const others = tabs.filter(({ id }) => id !== tab);
  const content = outline === "" ? [] : outline.split("\n").map(printable);
  return [
    `Page: ${tab} ${printable(url)}${title === "" ? "" : ` ${quoted(title)}`}`,
    ...others.map((other) => `Other tab: ${other.id} ${printable(other.url)}`),
    ...dialogLines(dialog, answer),
    "",
    ...(diff && content.length === 0 ? ["No changes."] : content),
  ];
}

function dialogLines(dialog: PageDialog | undefined, answer: string): readonly string[] {
  if (dialog === undefined) return [];
  return [`Open dialog: ${printable(dialog.type)} ${quoted(dialog.message)}. Answer it with: ${answer}`];
}

function describe({ name, ref, role, states, value }: NonNullable<ActResult["element"]>): string {
  const parts = [
    `${printable(role)}${name === "" ? "" : ` ${quoted(name)}`} [${printable(ref)}]`,
    ...states.map(printable),
  ];
  return [...parts, ...(value === undefined ? [] : [`value ${quoted(value)}`])].join(", ");
}

function quoted(text: string): string {
  return printable(JSON.stringify(text));
}
