import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { FrameTarget } from "../../pages/follow/followed-page.ts";
import type { WatchedPage } from "../watched-page.ts";

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** An element or a text of a document, from Chromium's snapshot. */
export interface SnapshotNode {
  readonly index: number;
  /** Index of the parent in the same document, across shadow roots; -1 for the document. */
  readonly parent: number;
  /** Lower case; `#text` for text. */
  readonly tag: string;
  readonly backendNodeId: number;
  readonly attributes: Readonly<Record<string, string>>;
  /** Content of a text that is laid out. */
  readonly text: string;
  readonly isFilled: boolean;
  readonly isChecked: boolean;
  readonly isSelected: boolean;
  /** In CSS pixels of the document; absent for nodes without layout. */
  readonly box: Box | undefined;
  readonly isShown: boolean;
  /** Product of the opacities of the node and its ancestors. */
  readonly opacity: number;
  readonly isInline: boolean;
  /** The part of the document in which it can be seen; absent without a clipping ancestor. */
  readonly clip: Box | undefined;
  readonly isAriaHidden: boolean;
  /** Has a listener for clicks. */
  readonly isClickable: boolean;
  /** Index of the child document in {@link SnapshotDocument.index}. */
  readonly childDocument: number | undefined;
}

export interface SnapshotDocument {
  readonly index: number;
  readonly frameId: string;
  readonly url: string;
  readonly title: string;
  readonly scroll: { readonly x: number; readonly y: number };
  readonly nodes: readonly SnapshotNode[];
}

/** Reads the documents of one process with layout, without running scripts in them. */
export async function readSnapshot(page: WatchedPage, target: FrameTarget): Promise<readonly SnapshotDocument[]> {
  const answer = await page.send(
    page.cdp.send(
      "DOMSnapshot.captureSnapshot",
      { computedStyles: ["visibility", "opacity", "display", "overflow-x", "overflow-y"] },
      target.sessionId,
    ),
  );
  if (answer === undefined) return [];
  const { documents, strings } = answer;
  return documents.map((document, index) => new DocumentReader(document, strings).read(index));
}

class DocumentReader {
  readonly #document: Protocol.DOMSnapshot.DocumentSnapshot;
  readonly #strings: readonly string[];

  constructor(document: Protocol.DOMSnapshot.DocumentSnapshot, strings: readonly string[]) {
    this.#document = document;
    this.#strings = strings;
  }

  read(index: number): SnapshotDocument {
    const { frameId, documentURL, title, scrollOffsetX = 0, scrollOffsetY = 0 } = this.#document;
    return {
      index,
      frameId: this.#text(frameId),
      url: this.#text(documentURL),
      title: this.#text(title),
      scroll: { x: scrollOffsetX, y: scrollOffsetY },
      nodes: this.#nodes(),
    };
  }

  #nodes(): SnapshotNode[] {
    const { layout, nodes } = this.#document;
    const layoutOf = new Map(layout.nodeIndex.map((node, place) => [node, place]));
    const filled = new Set(
      [nodes.inputValue, nodes.textValue].flatMap((values) =>
        (values?.index ?? []).filter((_, place) => this.#text(values?.value[place]) !== ""),
      ),
    );
    const checked = new Set(nodes.inputChecked?.index);
    const selected = new Set(nodes.optionSelected?.index);
    const children = nodes.contentDocumentIndex;
    const childDocuments = new Map(children?.index.map((node, place) => [node, children.value[place]]));
    const clickable = new Set(nodes.isClickable?.index);
    const read: SnapshotNode[] = [];
    for (const [index, parent] of (nodes.parentIndex ?? []).entries()) {
      const place = layoutOf.get(index);
      const styles = place === undefined ? [] : (layout.styles[place] ?? []).map((style) => this.#text(style));
      const [visibility = "", opacity = "", display = "", overflowX = "", overflowY = ""] = styles;
      const own = opacity === "" ? 1 : Number(opacity);
      const attributes = this.#attributes(nodes.attributes?.[index]);
      const box = place === undefined ? undefined : boxOf(layout.bounds[place]);
      const around = read[parent];
      const clips = [overflowX, overflowY].some((overflow) => overflow === "hidden" || overflow === "clip");
      read.push({
        index,
        parent,
        tag: this.#text(nodes.nodeName?.[index]).toLowerCase(),
        backendNodeId: nodes.backendNodeId?.[index] ?? 0,
        attributes,
        text: place === undefined ? "" : this.#text(layout.text[place]),
        isFilled: filled.has(index),
        isChecked: checked.has(index),
        isSelected: selected.has(index),
        box,
        isShown: place !== undefined && visibility === "visible",
        opacity: (around?.opacity ?? 1) * (Number.isFinite(own) ? own : 1),
        isInline: place === undefined || display.startsWith("inline"),
        // The body's overflow belongs to the viewport.
        clip: clips && box !== undefined && parent > 2 ? intersection(around?.clip, box) : around?.clip,
        isAriaHidden: around?.isAriaHidden === true || attributes["aria-hidden"] === "true",
        isClickable: clickable.has(index),
        childDocument: childDocuments.get(index),
      });
    }
    return read;
  }

  #attributes(pairs: readonly number[] | undefined): Record<string, string> {
    const attributes: Record<string, string> = {};
    for (let place = 0; place + 1 < (pairs?.length ?? 0); place += 2)
      attributes[this.#text(pairs?.[place])] = this.#text(pairs?.[place + 1]);
    return attributes;
  }

  #text(index: number | undefined): string {
    return index === undefined || index < 0 ? "" : (this.#strings[index] ?? "");
  }
}

export function intersection(first: Box | undefined, second: Box): Box {
  if (first === undefined) return second;
  const x = Math.max(first.x, second.x);
  const y = Math.max(first.y, second.y);
  return {
    x,
    y,
    width: Math.max(0, Math.min(first.x + first.width, second.x + second.width) - x),
    height: Math.max(0, Math.min(first.y + first.height, second.y + second.height) - y),
  };
}

function boxOf(bounds: readonly number[] | undefined): Box | undefined {
  const [x, y, width, height] = bounds ?? [];
  if (x === undefined || y === undefined || width === undefined || height === undefined) return undefined;
  return { x, y, width, height };
}
