import { crc32, deflate } from "node:zlib";
import { promisify } from "node:util";

const compress = promisify(deflate);
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** True colour, eight bits per channel. */
const headerRest = Buffer.from([8, 2, 0, 0, 0]);
/** Each byte is stored as the difference from the byte above, because most screen lines repeat. */
const filterUp = 2;

/** `pixels`: four bytes each: blue, green, red, unused; line after line. */
export async function encodePng(pixels: Buffer, width: number, height: number): Promise<Buffer> {
  const lineBytes = 1 + width * 3;
  const raw = Buffer.allocUnsafe(lineBytes * height);
  for (let y = 0; y < height; y++) {
    let to = y * lineBytes;
    raw[to++] = filterUp;
    let from = y * width * 4;
    const aboveOffset = y === 0 ? undefined : width * 4;
    for (let x = 0; x < width; x++) {
      for (let channel = 2; channel >= 0; channel--) {
        const above = aboveOffset === undefined ? 0 : (pixels[from + channel - aboveOffset] ?? 0);
        raw[to++] = ((pixels[from + channel] ?? 0) - above) & 0xff;
      }
      from += 4;
    }
  }
  const size = Buffer.alloc(8);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  return Buffer.concat([
    signature,
    chunk("IHDR", Buffer.concat([size, headerRest])),
    chunk("IDAT", await compress(raw, { level: 1 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
