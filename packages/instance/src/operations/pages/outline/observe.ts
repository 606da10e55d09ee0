import type { CheckedRequestOf, observePage } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import type { BrowserTab, PageDialog, PageObservation } from "@shoal/schemas";
import { capturePage } from "../reading/page-documents.ts";
import type { PageItem, PageItemElement } from "../reading/page-items.ts";
import { type PageTree, readTree } from "../reading/page-tree.ts";
import { describeElement, staleReference } from "../tabs/page-errors.ts";
import type { OpenTab, SessionPages } from "../tabs/session-pages.ts";
import { chooseLines } from "./choose-lines.ts";
import { compareLines, type EarlierLine } from "./compare-lines.ts";
import { estimateTokens } from "./estimate.ts";
import { LineWriter, type OutlineLine } from "./lines.ts";
import { replacedNote } from "./replaced.ts";

export type ObserveOptions = NonNullable<CheckedRequestOf<typeof observePage>["body"]>;

interface LastOutline {
  readonly loaderId: string;
  readonly lines: readonly EarlierLine[];
}

/** The last outline of each followed page. */
const lastOutlines = new WeakMap<OpenTab["page"], LastOutline>();
const maxKeptLines = 5_000;
const regionRoles: ReadonlySet<string> = new Set([
  "alertdialog",
  "article",
  "banner",
  "complementary",
  "contentinfo",
  "dialog",
  "form",
  "grid",
  "group",
  "iframe",
  "list",
  "main",
  "navigation",
  "region",
  "search",
  "table",
  "tabpanel",
  "treegrid",
]);

/** Outlines a tab. @throws {ServiceError} 404 for an unknown tab, 409 for a stale reference or a silent page. */
export async function observe(pages: SessionPages, options: ObserveOptions): Promise<PageObservation> {
  const { max_tokens, ref } = options;
  const resolved = ref === undefined ? undefined : await pages.resolve(ref, options.tab);
  const tab = resolved?.tab ?? (await pages.tab(options.tab));
  const [tabs, captured] = await Promise.all([pages.tabs(), capturePage(tab)]);
  const facts = factsOf(tab, tabs);
  if (captured === undefined) return { ...facts, outline: "", tokens: 0, left_out: 0, diff: false, scroll: noScroll };
  const { above, below } = captured.metrics;
  const tree = readTree(captured);
  const refs = assignRefs(pages, tab, tree);
  const wanted = resolved && findWanted(tree, resolved.known.address.backendNodeId, resolved.known.address.frameId);
  if (resolved !== undefined && wanted === undefined)
    throw ServiceError.of({
      ...staleReference(describeElement(resolved.known)),
      problem: `${describeElement(resolved.known)} is hidden`,
    });
  if (wanted !== undefined && ref !== undefined) refs.set(wanted, ref);
  const items = wanted === undefined ? itemsToShow(tree) : { shown: [wanted], behind: 0 };
  const writer = new LineWriter((element) => refs.get(element), wanted);
  writer.write(items.shown);
  const last = lastOutlines.get(tab.page);
  const { loaderId } = captured.main;
  if (wanted === undefined)
    lastOutlines.set(tab.page, { loaderId, lines: writer.lines.slice(0, maxKeptLines).map(keep) });
  const isDiff = options.diff && wanted === undefined && last?.loaderId === loaderId;
  const rendered = isDiff
    ? renderChanges(last.lines, writer.lines, max_tokens)
    : renderWhole(writer.lines, { maxTokens: max_tokens, behind: items.behind, regionRef: regionRef(pages, tab) });
  const outline = [rendered.outline, replacedNote(pages.references.takeReplaced(tab.id)) ?? ""]
    .filter((part) => part !== "")
    .join("\n");
  return {
    ...facts,
    outline,
    tokens: estimateTokens(outline),
    left_out: rendered.left_out + tree.omitted,
    diff: isDiff,
    scroll: { above, below },
  };
}

const noScroll = { above: 0, below: 0 };

function factsOf({ id, page }: OpenTab, tabs: readonly BrowserTab[]) {
  const present = tabs.find((tab) => tab.id === id);
  const dialog = dialogOf(page.session.dialog);
  return {
    url: present?.url ?? "",
    title: present?.title ?? "",
    tab: id,
    tabs: [...tabs],
    ...(dialog !== undefined && { dialog }),
  };
}

/** The dialog of a page as an answer shows it. */
export function dialogOf(dialog: OpenTab["page"]["session"]["dialog"]): PageDialog | undefined {
  if (dialog === undefined) return undefined;
  const { defaultText, message, type } = dialog;
  return { type, message, ...(type === "prompt" && { default_text: defaultText }) };
}

function assignRefs(pages: SessionPages, tab: OpenTab, { elements }: PageTree): Map<PageItemElement, string> {
  const usable = elements.filter(({ isUsable }) => isUsable);
  const refs = pages.references.assign(tab.id, usable);
  return new Map(usable.map((element, place) => [element, refs[place] ?? ""]));
}

function regionRef(pages: SessionPages, tab: OpenTab) {
  return (element: PageItemElement | undefined): string | undefined =>
    element !== undefined && regionRoles.has(element.role) ? pages.references.refOf(tab.id, element) : undefined;
}

function findWanted({ elements }: PageTree, backendNodeId: number, frameId: string): PageItemElement | undefined {
  return elements.find(({ address }) => address.backendNodeId === backendNodeId && address.frameId === frameId);
}

/** Content behind a modal dialog cannot be used. */
function itemsToShow({ elements, items }: PageTree): { readonly shown: readonly PageItem[]; readonly behind: number } {
  const modals = elements.filter(({ isModal, isVisible }) => isModal && isVisible);
  const top = modals.at(-1);
  if (top === undefined) return { shown: items, behind: 0 };
  return { shown: [top], behind: countAll(items) - countAll([top]) };
}

function countAll(items: readonly PageItem[]): number {
  return items.reduce((sum, item) => {
    if (item.kind === "text") return sum + 1;
    return sum + 1 + countAll(item.kind === "line" ? item.parts : item.children);
  }, 0);
}

function keep({ key, parent, text }: OutlineLine): EarlierLine {
  return { key, text, parentKey: parent?.key };
}

function renderWhole(
  lines: readonly OutlineLine[],
  {
    behind,
    maxTokens,
    regionRef: refOf,
  }: {
    readonly behind: number;
    readonly maxTokens: number;
    readonly regionRef: (element: PageItemElement | undefined) => string | undefined;
  },
): { readonly outline: string; readonly left_out: number } {
  const { chosen, cut, leftOut } = chooseLines(lines, maxTokens);
  const written = lines
    .filter((line) => chosen.has(line))
    .map((line) => {
      const more = cut.get(line);
      const ref = more === undefined ? undefined : refOf(line.element);
      const note = more === undefined || ref === undefined ? "" : ` [${ref}] (${String(more)} more)`;
      return `${"  ".repeat(line.depth)}${line.text}${note}`;
    });
  if (behind > 0) written.push(`(${String(behind)} elements behind the dialog cannot be used now)`);
  if (leftOut > 0) written.push(`(${String(leftOut)} more: scroll, observe a region by its ref, or raise max_tokens)`);
  return { outline: written.join("\n"), left_out: leftOut };
}

function renderChanges(
  earlier: readonly EarlierLine[],
  lines: readonly OutlineLine[],
  maxTokens: number,
): { readonly outline: string; readonly left_out: number } {
  const written: string[] = [];
  let leftOut = 0;
  let tokens = 0;
  for (const { count, depth, sign, text } of compareLines(earlier, lines)) {
    const line = `${sign} ${"  ".repeat(depth)}${text}`;
    tokens += estimateTokens(line) + 1;
    if (leftOut > 0 || tokens > maxTokens) leftOut += count;
    else written.push(line);
  }
  return { outline: written.join("\n"), left_out: leftOut };
}
