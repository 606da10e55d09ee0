import { callInPage } from "../follow/element-handle.ts";
import type { FollowedPage } from "../follow/followed-page.ts";
import { readElements } from "../reading/read-page.ts";
import type { Box } from "../sight/document-nodes.ts";
import type { OpenTab, SessionPages } from "../tabs/session-pages.ts";
import type { Clip, VisiblePart } from "./clip.ts";

/** The reference of an element and its box in CSS pixels of the document. */
export interface Label extends Box {
  readonly ref: string;
}

const maxLabels = 500;

/** Returns the boxes of usable elements, with the references of an outline. */
export async function findLabels(pages: SessionPages, tab: OpenTab, visible: VisiblePart): Promise<readonly Label[]> {
  const usable = (await readElements(tab)).filter(({ isUsable }) => isUsable);
  const refs = pages.references.assign(tab.id, usable);
  return usable.flatMap(({ box }, place): readonly Label[] => {
    const ref = refs[place];
    if (box === undefined || ref === undefined || box.width < 1 || box.height < 1) return [];
    return [{ ref, x: box.x + visible.x, y: box.y + visible.y, width: box.width, height: box.height }];
  });
}

/**
 * Draws on a copy of the picture, in an isolated world: the page's document stays as it is, and its scripts notice
 * nothing.
 */
const drawFunction = `async function (picture, labels, type, quality) {
  const bytes = Uint8Array.from(atob(picture), (character) => character.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes]));
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const draw = canvas.getContext("2d");
  draw.drawImage(bitmap, 0, 0);
  bitmap.close();
  const colours = ["#d81b60", "#1e66f5", "#2e7d32", "#e65100", "#6a1b9a", "#00838f"];
  const fontPixels = 12, padding = 2;
  draw.font = "bold " + fontPixels + "px sans-serif";
  draw.textBaseline = "top";
  for (const [place, { ref, x, y, width, height }] of labels.entries()) {
    const colour = colours[place % colours.length];
    draw.strokeStyle = colour;
    draw.lineWidth = 2;
    draw.strokeRect(x, y, width, height);
    const textWidth = draw.measureText(ref).width + 2 * padding;
    const textHeight = fontPixels + 2 * padding;
    const left = Math.max(0, Math.min(x, canvas.width - textWidth));
    const top = y >= textHeight ? y - textHeight : y;
    draw.fillStyle = colour;
    draw.fillRect(left, top, textWidth, textHeight);
    draw.fillStyle = "#fff";
    draw.fillText(ref, left + padding, top + padding);
  }
  const blob = await canvas.convertToBlob({ type: "image/" + type, quality: quality / 100 });
  const result = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let at = 0; at < result.length; at += 32768) text += String.fromCharCode(...result.subarray(at, at + 32768));
  return btoa(text);
}`;

interface Drawing {
  readonly labels: readonly Label[];
  readonly clip: Clip;
  readonly format: string;
  readonly quality: number;
}

/** Draws labels on a PNG picture. Returns the picture, both in base64; `undefined` if the page does not answer. */
export async function drawLabels(
  page: FollowedPage,
  picture: string,
  { clip, format, labels, quality }: Drawing,
): Promise<string | undefined> {
  const isShown = ({ height, width, x, y }: Label): boolean =>
    x < clip.x + clip.width && y < clip.y + clip.height && x + width > clip.x && y + height > clip.y;
  const inPicture = labels
    .filter(isShown)
    .slice(0, maxLabels)
    .map(({ height, ref, width, x, y }) => ({
      ref,
      x: (x - clip.x) * clip.pixels,
      y: (y - clip.y) * clip.pixels,
      width: width * clip.pixels,
      height: height * clip.pixels,
    }));
  const drawn: unknown = await callInPage(page, drawFunction, picture, inPicture, format, quality);
  return typeof drawn === "string" ? drawn : undefined;
}
