import type { Protocol } from "devtools-protocol";
import { invalid } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import { maxScreenshotPixels } from "../../computer/page-view.ts";
import type { FollowedPage } from "../follow/followed-page.ts";
import { callInPage, type ElementHandle } from "../follow/element-handle.ts";
import { inPage } from "../follow/points.ts";
import type { Box } from "../sight/document-nodes.ts";

/** Chromium cannot draw larger pictures: they are scaled down. */
const maxSidePixels = 16_384;
/** Longer areas are cut. CSS pixels. */
const maxAreaSide = 300_000;

/** Models shrink higher pictures. */
const tilePixels = 1_568;

interface Tile {
  readonly maxWidth: number | undefined;
  /** From 1. */
  readonly tile: number;
}

/** The visible part of a page, in CSS pixels of the document. */
export interface VisiblePart extends Box {
  /** Pixels of a picture for one CSS pixel. */
  readonly ratio: number;
}

/** What a picture shows. */
export interface Clip extends Box {
  /** Pixels of the picture for one CSS pixel. */
  readonly pixels: number;
  readonly scale: number;
}

const answerMs = 2_000;
const visiblePartFunction =
  "function () { return [visualViewport.pageLeft, visualViewport.pageTop, innerWidth, innerHeight, devicePixelRatio]; }";

/** Returns `undefined` if the page does not answer. */
export async function visiblePartOf(page: FollowedPage): Promise<VisiblePart | undefined> {
  const read = callInPage<[number, number, number, number, number]>(page, visiblePartFunction);
  const outcome = await page.session.outcome(read, answerMs);
  if (outcome.kind === "gone") throw page.session.endError();
  if (outcome.kind !== "done" || outcome.result === undefined) return undefined;
  const [x, y, width, height, ratio] = outcome.result;
  return { x, y, width, height, ratio };
}

/** Returns `undefined` if the page does not answer. */
export async function wholePage(page: FollowedPage): Promise<Box | undefined> {
  const metrics = await page.send(page.cdp.send("Page.getLayoutMetrics", undefined, page.session.sessionId));
  if (metrics === undefined) return undefined;
  const { height, width } = metrics.cssContentSize;
  return { x: 0, y: 0, width, height };
}

/** Scrolls to an element, and returns its box. @throws {ServiceError} 409 if it is not displayed. */
export async function boxOf({ address, sender: { page } }: ElementHandle): Promise<Box> {
  const { backendNodeId, target } = address;
  // It fails for elements without a box.
  await page
    .send(page.cdp.send("DOM.scrollIntoViewIfNeeded", { backendNodeId }, target.sessionId))
    .catch(() => undefined);
  const box = await quadOf(page, address);
  const visible = await visiblePartOf(page);
  if (box === undefined || visible === undefined || box.width < 1 || box.height < 1)
    throw new ServiceError(409, "conflict", "The element is not displayed.", {
      hint: "Observe the page, and choose a visible element.",
    });
  return { ...box, x: box.x + visible.x, y: box.y + visible.y };
}

/** The box of an element in the viewport of the page; `undefined` without one. */
async function quadOf(page: FollowedPage, address: ElementHandle["address"]): Promise<Box | undefined> {
  const { backendNodeId, target } = address;
  const answer = await page
    .send(page.cdp.send("DOM.getBoxModel", { backendNodeId }, target.sessionId))
    .catch(() => undefined);
  if (answer === undefined) return undefined;
  const { border } = answer.model;
  const xs = border.filter((_, place) => place % 2 === 0);
  const ys = border.filter((_, place) => place % 2 === 1);
  const corner = await inPage(page, target, { x: Math.min(...xs), y: Math.min(...ys) });
  return { ...corner, width: Math.max(...xs) - Math.min(...xs), height: Math.max(...ys) - Math.min(...ys) };
}

/** Limits a picture in size and memory. @param maxWidth - in pixels of the picture. */
export function clipOf(wanted: Box, ratio: number, maxWidth = maxSidePixels): Clip {
  const x = Math.max(0, Math.floor(wanted.x));
  const y = Math.max(0, Math.floor(wanted.y));
  const width = Math.max(1, Math.min(maxAreaSide, Math.ceil(wanted.x + wanted.width) - x));
  const height = Math.max(1, Math.min(maxAreaSide, Math.ceil(wanted.y + wanted.height) - y));
  const byPixels = Math.sqrt(maxScreenshotPixels / (width * height)) / ratio;
  const bySide = maxSidePixels / (Math.max(width, height) * ratio);
  const scale = Math.min(1, maxWidth / (width * ratio), byPixels, bySide);
  return { x, y, width, height, scale, pixels: ratio * scale };
}

/** A part of an area, which a picture of `maxWidth` pixels shows without making it smaller. @throws {ServiceError} 400 after the last one. */
export function tileOf(area: Box, ratio: number, { maxWidth, tile }: Tile): Box {
  const pixels = Math.min(ratio, (maxWidth ?? maxSidePixels) / area.width);
  const height = tilePixels / pixels;
  const count = Math.max(1, Math.ceil(area.height / height));
  if (tile > count) throw ServiceError.of(invalid("body.tile", "is after the end of the picture", { limit: count }));
  const y = area.y + (tile - 1) * height;
  return { ...area, y, height: Math.min(height, area.y + area.height - y) };
}

export function isInside(inner: Box, outer: Box): boolean {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.width <= outer.x + outer.width &&
    inner.y + inner.height <= outer.y + outer.height
  );
}

export function viewportOf({ height, scale, width, x, y }: Clip): Protocol.Page.Viewport {
  return { x, y, width, height, scale };
}
