export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** In pixels, of a PNG or JPEG file; `undefined` for other content. */
export function imageSize(file: Buffer): ImageSize | undefined {
  if (file.length >= 24 && file.readUInt32BE(0) === 0x89504e47)
    return { width: file.readUInt32BE(16), height: file.readUInt32BE(20) };
  if (file.length < 4 || file.readUInt16BE(0) !== 0xffd8) return undefined;
  let offset = 2;
  while (offset + 9 <= file.length && file[offset] === 0xff) {
    const marker = file.readUInt8(offset + 1);
    // SOF0 to SOF15 without DHT, JPG and DAC (ITU T.81, table B.1).
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { height: file.readUInt16BE(offset + 5), width: file.readUInt16BE(offset + 7) };
    offset += 2 + file.readUInt16BE(offset + 2);
  }
  return undefined;
}
