import type { Protocol } from "devtools-protocol/types/protocol.d.ts";

/** Enough to read a very large page, whose snapshot takes seconds. */
const basicStyles = [
  "display",
  "visibility",
  "opacity",
  "overflow-x",
  "overflow-y",
  "position",
  "cursor",
  "touch-action",
  "overlay",
  "-webkit-text-security",
  "content-visibility",
] as const;

/** The styles of a snapshot, in its order. */
export const capturedStyles = [
  ...basicStyles,
  "clip",
  "clip-path",
  "font-size",
  "color",
  "-webkit-text-fill-color",
  "background-color",
  "background-image",
  "-webkit-background-clip",
  "white-space-collapse",
  "direction",
  "filter",
  "mask",
  "fill",
  "fill-opacity",
  "-webkit-text-stroke",
  "text-shadow",
  "color-scheme",
  "contain",
  "z-index",
  "mix-blend-mode",
  "backface-visibility",
  "transform",
  "rotate",
  "transform-style",
  "flex-direction",
] as const;

/** The last style is read only of what scrolls. */
const stillStyles = capturedStyles.slice(0, -1);

/**
 * Parameters of a snapshot. @param isBasic - without the styles by which hidden text is found, and without scrolling.
 * @param scrolls - whether something may scroll: the positions cost a third of the time.
 */
export function snapshotParameters({ isBasic, scrolls }: { readonly isBasic: boolean; readonly scrolls: boolean }) {
  return {
    computedStyles: [...(isBasic ? basicStyles : scrolls ? capturedStyles : stillStyles)],
    includeDOMRects: scrolls && !isBasic,
    includePaintOrder: !isBasic,
  };
}

export type CapturedStyle = (typeof capturedStyles)[number];

/** The documents of one process. */
export type CapturedProcess = Pick<Protocol.DOMSnapshot.CaptureSnapshotResponse, "documents" | "strings">;

/** A page as Chromium reports it: hostile data. */
export interface CapturedPage {
  /** The page's process first. */
  readonly processes: readonly CapturedProcess[];
  /** Frames of other processes: their element in the document around them. */
  readonly frames: readonly {
    readonly process: number;
    readonly ownerProcess: number;
    readonly ownerNodeId: number;
  }[];
  /** Only this element. */
  readonly root?: { readonly process: number; readonly backendNodeId: number };
  readonly content: "main" | "all";
  readonly links: boolean;
}
