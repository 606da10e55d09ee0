import type { Extensions } from "x11";
import type { Region } from "../input/screen.ts";
import { encodePng } from "./png.ts";
import type { XConnection } from "./x-connection.ts";

export interface XPicture {
  /** @param withPointer - draws the mouse pointer. @returns PNG. */
  take(region: Region, withPointer: boolean): Promise<Buffer>;
}

const pixmapFormat = 2;
const allPlanes = 0xffff_ffff;

export async function createXPicture(x: XConnection): Promise<XPicture> {
  const { client, root } = x;
  const fixes = await x.ask<Extensions["fixes"]>((reply) => {
    client.require("fixes", reply);
  });

  async function drawPointer(pixels: Buffer, region: Region): Promise<void> {
    const pointer = await x.ask<{
      x: number;
      y: number;
      width: number;
      height: number;
      xhot: number;
      yhot: number;
      cursorImage: Buffer;
    }>((reply) => {
      fixes.GetCursorImage(reply);
    });
    const left = pointer.x - pointer.xhot - region.x;
    const top = pointer.y - pointer.yhot - region.y;
    for (let row = Math.max(0, -top); row < Math.min(pointer.height, region.height - top); row++) {
      for (let column = Math.max(0, -left); column < Math.min(pointer.width, region.width - left); column++) {
        const from = (row * pointer.width + column) * 4;
        const to = ((top + row) * region.width + left + column) * 4;
        const rest = 255 - (pointer.cursorImage[from + 3] ?? 0);
        // The pointer's colours are premultiplied by its alpha.
        for (let channel = 0; channel < 3; channel++)
          pixels[to + channel] = Math.min(
            255,
            (pointer.cursorImage[from + channel] ?? 0) + Math.round(((pixels[to + channel] ?? 0) * rest) / 255),
          );
      }
    }
  }

  return {
    async take(region, withPointer) {
      const { data } = await x.ask<{ data: Buffer }>((reply) => {
        client.GetImage(pixmapFormat, root, region.x, region.y, region.width, region.height, allPlanes, reply);
      });
      if (withPointer) await drawPointer(data, region);
      return encodePng(data, region.width, region.height);
    },
  };
}
