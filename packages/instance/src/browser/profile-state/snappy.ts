/** Databases use blocks of some kilobytes. */
const maxBytes = 64 * 2 ** 20;

/** @throws {RangeError} for an invalid block. */
export function unsnappy(packed: Buffer): Buffer {
  let at = 0;
  let length = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = packed.readUInt8(at++);
    length += (byte & 127) * 2 ** shift;
    if (byte < 128) break;
  }
  if (length > maxBytes) throw new RangeError("the block is larger than it may be");
  const out = Buffer.alloc(length);
  let written = 0;
  while (at < packed.length) {
    const tag = packed.readUInt8(at++);
    const kind = tag & 3;
    if (kind === 0) {
      let size = tag >> 2;
      if (size >= 60) {
        const bytes = size - 59;
        size = packed.readUIntLE(at, bytes);
        at += bytes;
      }
      size += 1;
      if (at + size > packed.length || written + size > length) throw new RangeError("the block is damaged");
      packed.copy(out, written, at, at + size);
      at += size;
      written += size;
      continue;
    }
    let size: number;
    let back: number;
    if (kind === 1) {
      size = ((tag >> 2) & 7) + 4;
      back = ((tag >> 5) << 8) | packed.readUInt8(at);
      at += 1;
    } else {
      size = (tag >> 2) + 1;
      back = kind === 2 ? packed.readUInt16LE(at) : packed.readUInt32LE(at);
      at += kind === 2 ? 2 : 4;
    }
    if (back === 0 || back > written || written + size > length) throw new RangeError("the block is damaged");
    // A copy may overlap its own output.
    for (let index = 0; index < size; index += 1)
      out.writeUInt8(out.readUInt8(written - back + index), written + index);
    written += size;
  }
  if (written !== length) throw new RangeError("the block is damaged");
  return out;
}
