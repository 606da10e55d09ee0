import type { CheckedRequestOf, observePage } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import type { BrowserTab, PageDialog, PageObservation } from "@shoal/schemas";
import type { DomNode } from "../capture/dom-snapshot.ts";
import type { PageItemElement } from "../reading/page-items.ts";
import type { PageTree } from "../reading/page-tree.ts";
import { readPage } from "../reading/read-page.ts";
import { describeElement, staleReference } from "../tabs/page-errors.ts";
import type { OpenTab, SessionPages } from "../tabs/session-pages.ts";
import { withoutCredentials } from "../tabs/shown-address.ts";
import type { PdfText } from "../text/pdf-text.ts";
import { chooseLines } from "./choose-lines.ts";
import { changeRanks } from "./change-rank.ts";
import { compareLines, type EarlierLine, type LineChange } from "./compare-lines.ts";
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
  ...["alertdialog", "article", "banner", "complementary", "contentinfo", "dialog", "form", "grid", "group"],
  ...["iframe", "list", "main", "navigation", "region", "search", "table", "tabpanel", "treegrid"],
]);

/** Outlines a tab. @throws {ServiceError} 404 for an unknown tab, 409 for a stale reference or a silent page. */
export async function observe(
  pages: SessionPages,
  options: ObserveOptions,
  pdfs: { describePdf(tab: OpenTab): Promise<PdfText | undefined> },
): Promise<PageObservation> {
  const { max_tokens, ref } = options;
  const resolved = ref === undefined ? undefined : await pages.resolve(ref, options.tab);
  const { tab, tabs } = await pages.tabsWith(resolved?.tab.id ?? options.tab);
  const [read, pdf] = await Promise.all([readPage(tab), pdfs.describePdf(tab)]);
  const facts = factsOf(tab, tabs);
  if (pdf !== undefined) {
    const { pages: count, title, url } = pdf;
    const text = count === 0 ? pdf.markdown.trim() : `(a PDF with ${String(count)} pages: read returns its text)`;
    const shown = { outline: text, tokens: estimateTokens(text), left_out: 0, diff: false, scroll: noScroll };
    return { ...facts, url: withoutCredentials(url), title, ...shown };
  }
  if (read === undefined) return { ...facts, outline: "", tokens: 0, left_out: 0, diff: false, scroll: noScroll };
  const { behind, captured, tree } = read;
  const { above, below } = captured.metrics;
  const refs = assignRefs(pages, tab, tree);
  const wanted = resolved && findWanted(tree, resolved.known.address.backendNodeId, resolved.known.address.frameId);
  if (resolved !== undefined && wanted === undefined)
    throw ServiceError.of({
      ...staleReference(describeElement(resolved.known)),
      problem: `${describeElement(resolved.known)} is hidden`,
    });
  if (wanted !== undefined && ref !== undefined) refs.set(wanted.node, ref);
  const writer = new LineWriter(({ node }) => refs.get(node), wanted);
  writer.write(wanted === undefined ? tree.items : [wanted]);
  const last = lastOutlines.get(tab.page);
  const { loaderId } = captured.main;
  if (wanted === undefined)
    lastOutlines.set(tab.page, { loaderId, lines: writer.lines.slice(0, maxKeptLines).map(keep) });
  const isDiff = options.diff && wanted === undefined && last?.loaderId === loaderId;
  const rendered = isDiff
    ? renderChanges(last.lines, writer.lines, max_tokens)
    : renderWhole(writer.lines, {
        maxTokens: max_tokens,
        notes: wanted === undefined ? notesOf(tree, behind) : [],
        regionRef: regionRef(pages, tab),
      });
  const outline = [rendered.outline, replacedNote(pages.references.takeReplaced(tab.id)) ?? ""]
    .filter((part) => part !== "")
    .join("\n");
  return {
    ...facts,
    outline,
    tokens: estimateTokens(outline),
    left_out:
      rendered.left_out + tree.omitted + (wanted === undefined ? behind + tree.unrevealed + tree.inertParts : 0),
    diff: isDiff,
    scroll: { above, below },
  };
}

/**
 * Outlines a tab for a record: no reference is given or moved, and later changes are not counted from it. `undefined` while a
 * dialog is open.
 */
export async function outlineForRecord(
  { references }: SessionPages,
  tab: OpenTab,
  maxTokens: number,
): Promise<string | undefined> {
  const read = await readPage(tab);
  if (read === undefined) return undefined;
  const writer = new LineWriter(({ address, isUsable }) => (isUsable ? references.at(address)?.ref : undefined));
  writer.write(read.tree.items);
  const notes = notesOf(read.tree, read.behind);
  return renderWhole(writer.lines, { maxTokens, notes, regionRef: () => undefined }).outline;
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

function assignRefs(pages: SessionPages, tab: OpenTab, { elements }: PageTree): Map<DomNode, string> {
  const usable = elements.filter(({ isUsable }) => isUsable);
  const refs = pages.references.assign(tab.id, usable);
  return new Map(usable.map(({ node }, place) => [node, refs[place] ?? ""]));
}

function regionRef(pages: SessionPages, tab: OpenTab) {
  return (element: PageItemElement | undefined): string | undefined =>
    element !== undefined && regionRoles.has(element.role) ? pages.references.refOf(tab.id, element) : undefined;
}

function findWanted({ elements }: PageTree, backendNodeId: number, frameId: string): PageItemElement | undefined {
  return elements.find(({ address }) => address.backendNodeId === backendNodeId && address.frameId === frameId);
}

/** Says what an outline does not list. */
function notesOf({ inertParts, items, unrevealed }: PageTree, behind: number): string[] {
  const notes: string[] = [];
  if (behind > 0) notes.push(`(${String(behind)} elements behind the dialog cannot be used now)`);
  if (inertParts > 0) notes.push(`(${String(inertParts)} inert parts cannot be used now)`);
  if (unrevealed > 0)
    notes.push(`(${String(unrevealed)} texts further down are invisible: scroll there, and observe again)`);
  if (items.length === 0 && notes.length === 0) notes.push("(the page shows no text and no element)");
  return notes;
}

function keep({ key, parent, text }: OutlineLine): EarlierLine {
  return { key, text, parentKey: parent?.key };
}

function renderWhole(
  lines: readonly OutlineLine[],
  {
    maxTokens,
    notes,
    regionRef: refOf,
  }: {
    readonly maxTokens: number;
    readonly notes: readonly string[];
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
  written.push(...notes);
  if (leftOut > 0) written.push(`(${String(leftOut)} more: scroll, observe a region by its ref, or raise max_tokens)`);
  return { outline: written.join("\n"), left_out: leftOut };
}

function renderChanges(
  earlier: readonly EarlierLine[],
  lines: readonly OutlineLine[],
  maxTokens: number,
): { readonly outline: string; readonly left_out: number } {
  const changes = compareLines(earlier, lines);
  const byWorth = changes.toSorted(
    (one, other) => changeRanks.indexOf(one.rank) - changeRanks.indexOf(other.rank) || one.distance - other.distance,
  );
  const chosen = new Set<LineChange>();
  let left = maxTokens;
  for (const change of byWorth) {
    left -= estimateTokens(lineOf(change)) + 1;
    if (left < 0) break;
    chosen.add(change);
  }
  const written = changes.filter((change) => chosen.has(change)).toSorted((one, other) => part(one) - part(other));
  const leftOut = changes.reduce((sum, change) => sum + (chosen.has(change) ? 0 : change.count), 0);
  return { outline: written.map(lineOf).join("\n"), left_out: leftOut };
}

function lineOf({ depth, sign, text }: LineChange): string {
  return `${sign} ${"  ".repeat(depth)}${text}`;
}

/** Messages and dialogs come first; the others stay in the order of the page, before removed and ticking lines. */
function part({ rank }: LineChange): number {
  return rank === "urgent" ? 0 : rank === "removed" ? 2 : rank === "ticking" ? 3 : 1;
}
