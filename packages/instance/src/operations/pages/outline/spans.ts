import type { DomNode } from "../capture/dom-snapshot.ts";

/** Of a cell. */
const maxColumns = 20;
const maxRows = 1_000;
const maxTableColumns = 200;
const maxDepth = 4;

/** The empty places before cells, by table. */
const known = new WeakMap<DomNode, ReadonlyMap<DomNode, number>>();

/**
 * How many places of a row are empty before a cell, because a cell of a row above fills them, or the cell before it is
 * wide. A reader would take the cell for one of another column.
 */
export function emptyBefore(cell: DomNode): number {
  if (cell.tag !== "td" && cell.tag !== "th") return 0;
  let table = cell.parent;
  for (let depth = 0; table !== undefined && table.tag !== "table"; depth++, table = table.parent)
    if (depth > maxDepth) return 0;
  if (table === undefined || table.accessible?.role.startsWith("Layout") === true) return 0;
  let places = known.get(table);
  if (places === undefined) known.set(table, (places = placesOf(table)));
  return places.get(cell) ?? 0;
}

function placesOf({ children }: DomNode): ReadonlyMap<DomNode, number> {
  const places = new Map<DomNode, number>();
  const ownRows = children.filter(({ tag }) => tag === "tr");
  const sections = children.filter(({ tag }) => /^t(?:head|body|foot)$/.test(tag));
  for (const rows of [ownRows, ...sections.map((section) => section.children.filter(({ tag }) => tag === "tr"))])
    addPlaces(rows, places);
  return places;
}

/** No cell goes on in another section of a table. */
function addPlaces(rows: readonly DomNode[], places: Map<DomNode, number>): void {
  /** For each column, in how many more rows a cell fills it. */
  const filled: number[] = [];
  for (const row of rows) {
    let column = 0;
    let next = 0;
    const begun: (readonly [column: number, rows: number])[] = [];
    for (const cell of row.children) {
      if (cell.tag !== "td" && cell.tag !== "th") continue;
      while ((filled[column] ?? 0) > 0) column++;
      if (column > next) places.set(cell, column - next);
      next = column + 1;
      const below = spanOf(cell, "rowspan", maxRows);
      for (let span = spanOf(cell, "colspan", maxColumns); span > 0 && column < maxTableColumns; span--)
        begun.push([column++, below]);
    }
    for (const [place, left] of filled.entries()) if (left > 0) filled[place] = left - 1;
    for (const [place, below] of begun) filled[place] = below - 1;
  }
}

function spanOf(cell: DomNode, name: "colspan" | "rowspan", most: number): number {
  const span = Number.parseInt(cell.attribute(name) ?? "", 10);
  return span >= 1 ? Math.min(span, most) : 1;
}
