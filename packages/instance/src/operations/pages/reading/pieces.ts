import type { DomNode } from "../capture/dom-snapshot.ts";
import type { PageItem, PageItemElement, TextItem } from "./page-items.ts";

/** Between the lines of a page. */
export const lineBreak = { kind: "break" } as const;

export type Piece = PageItem | typeof lineBreak;

/** Blocks begin and end lines. The words above others, as Japanese texts have them, follow in parentheses. */
export function wrapped(node: DomNode, pieces: readonly Piece[]): readonly Piece[] {
  if (node.tag === "br") return [lineBreak];
  if (node.tag === "rt") return inParentheses(pieces);
  if (isInline(node.style("display"))) return pieces;
  const isOutOfFlow = /absolute|fixed/.test(node.style("position"));
  return isOutOfFlow && pieces.every(isBlank) ? [] : [lineBreak, ...pieces, lineBreak];
}

function isBlank(piece: Piece): boolean {
  return piece.kind === "break" || (piece.kind === "text" && piece.text.trim() === "");
}

function isInline(display: string): boolean {
  return /^(?:inline|ruby|contents$|math$|$)/.test(display);
}

function inParentheses(pieces: readonly Piece[]): readonly Piece[] {
  const first = pieces.find((piece) => piece.kind === "text");
  return first === undefined ? pieces : [{ ...first, text: "(" }, ...pieces, { ...first, text: ")" }];
}

/** Joins the texts of a line. Elements inside a text stay in its line; others get separate lines. */
export function groupPieces(pieces: readonly Piece[]): PageItem[] {
  const items: PageItem[] = [];
  let run: (TextItem | PageItemElement)[] = [];
  const endLine = (): void => {
    for (const item of groupRun(run)) items.push(item);
    run = [];
  };
  for (const piece of pieces) {
    if (piece.kind === "break" || piece.kind === "line") endLine();
    if (piece.kind === "line") items.push(piece);
    else if (piece.kind !== "break") run.push(piece);
  }
  endLine();
  return items;
}

function groupRun(run: readonly (TextItem | PageItemElement)[]): readonly PageItem[] {
  const joined: (TextItem | PageItemElement)[] = [];
  for (const item of run) {
    const last = joined.at(-1);
    if (item.kind === "text" && last?.kind === "text")
      joined[joined.length - 1] = {
        ...last,
        text: `${last.text}${item.text}`,
        isVisible: last.isVisible || item.isVisible,
        box: last.isVisible ? last.box : (item.box ?? last.box),
      };
    else joined.push(item);
  }
  const parts = joined.filter((item) => item.kind === "element" || item.text.trim() !== "");
  const isLine =
    parts.length > 1 &&
    parts.some(({ kind }) => kind === "text") &&
    parts.every((item) => item.kind === "text" || item.children.length === 0);
  return isLine ? [{ kind: "line", parts }] : parts;
}
