import type { FrameTarget } from "../follow/followed-page.ts";
import type { DomDocument } from "./dom-snapshot.ts";

/** A document of the page, with the documents of its frames. */
export interface PageDocument {
  readonly dom: DomDocument;
  readonly target: FrameTarget;
  readonly loaderId: string;
  /** By the backend node ids of the frames' elements. */
  readonly frames: ReadonlyMap<number, PageDocument>;
}

export type Captured = Omit<PageDocument, "frames"> & { readonly frames: Map<number, PageDocument> };

/** Documents of one process. */
export const maxDocuments = 200;
