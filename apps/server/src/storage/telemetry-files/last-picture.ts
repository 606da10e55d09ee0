import type { HistoryPage, HistoryQuestion } from "./history.ts";
import { readBackward } from "./event-files.ts";
import { isEventLine } from "./line-bounds.ts";

/** An instance records it last. Other events may have been under way. */
const maxReadLines = 1_000;
const maxReadBytes = 8 * 2 ** 20;
const maxPictureBytes = 2 ** 20;

/** Runs in a parse worker: lines are untrusted. Returns a JPEG file, or no bytes. */
export async function readLastPicture({ directory }: HistoryQuestion): Promise<HistoryPage> {
  let lines = 0;
  let bytes = 0;
  for await (const { end, line, start } of readBackward(directory, Number.MAX_SAFE_INTEGER)) {
    const picture = pictureIn(line);
    if (picture !== undefined) return pageOf(picture);
    lines += 1;
    bytes += end - start;
    if (lines === maxReadLines || bytes >= maxReadBytes) break;
  }
  return pageOf(new Uint8Array());
}

function pictureIn(line: string): Uint8Array<ArrayBuffer> | undefined {
  if (!line.includes('"type":"page_picture"') || !isEventLine(line)) return undefined;
  const text = /"jpeg":"([\w+/=]*)"/.exec(line)?.[1];
  if (text === undefined) return undefined;
  const picture = new Uint8Array(Buffer.from(text, "base64"));
  const isJpeg = picture[0] === 0xff && picture[1] === 0xd8 && picture[2] === 0xff;
  return isJpeg && picture.length <= maxPictureBytes ? picture : undefined;
}

/** `hasMore` is unused; it ends the search. */
function pageOf(items: Uint8Array<ArrayBuffer>): HistoryPage {
  return { items, hasMore: true, nextOffset: undefined };
}
