import { inflateSync } from "node:zlib";

export function readPng(png: Buffer): { readonly width: number; readonly height: number; readonly corner: string } {
  if (png.toString("latin1", 1, 4) !== "PNG") throw new Error("not a PNG");
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString("latin1", at + 4, at + 8) === "IDAT")
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  // With every filter, the first pixel of the first row is unchanged.
  const rows = inflateSync(Buffer.concat(parts));
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20), corner: `#${rows.toString("hex", 1, 4)}` };
}
