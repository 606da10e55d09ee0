import { PageOutline } from "@shoal/instance";
import { type PageReading, readPage } from "./read-page.ts";

/** A page with its meaning. The reading contains nodes of the outline. */
export interface PageSight {
  readonly outline: PageOutline;
  readonly reading: PageReading;
}

/**
 * Reads the answer of an instance. The reading of a hostile outline takes seconds: call it on a thread that may be ended.
 * @param status - of the page's response.
 * @throws {Error} for an invalid outline.
 */
export function readSight(text: string, status?: number): PageSight {
  const read = PageOutline.safeParse(JSON.parse(text));
  if (!read.success) throw new Error("The instance sent an invalid outline of the page.");
  return { outline: read.data, reading: readPage(read.data, status) };
}
