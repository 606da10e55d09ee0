import type { Protocol } from "devtools-protocol/types/protocol.d.ts";

/** The styles of a snapshot, in its order. */
export const capturedStyles = [
  "display",
  "visibility",
  "opacity",
  "overflow-x",
  "overflow-y",
  "clip",
  "clip-path",
  "font-size",
  "color",
  "-webkit-text-fill-color",
  "background-color",
  "background-image",
  "-webkit-background-clip",
  "-webkit-text-security",
  "white-space-collapse",
  "direction",
  "position",
  "filter",
  "content-visibility",
] as const;

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
