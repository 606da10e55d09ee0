import { crc32, deflateRawSync } from "node:zlib";

export interface HandMadeEntry {
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  /** `st_mode`; 0o100644 when absent. */
  readonly mode?: number;
  readonly flags?: number;
  readonly method?: number;
  readonly declaredSize?: number;
  readonly declaredPacked?: number;
  readonly declaredCrc?: number;
  /** Points to the bytes of the entry with this index. */
  readonly sameBytesAs?: number;
  readonly madeOn?: number;
}

export function handMadeZip(
  entries: readonly HandMadeEntry[],
  options: { readonly declaredEntries?: number } = {},
): Buffer {
  const pieces: Buffer[] = [];
  const records: Buffer[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const entry of entries) {
    const name = Buffer.from(entry.name);
    const content = Buffer.from(entry.content ?? "");
    const method = entry.method ?? 8;
    const data = method === 8 ? deflateRawSync(content) : content;
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(entry.flags ?? 0x800, 2);
    fields.writeUInt16LE(method, 4);
    fields.writeUInt16LE(0x21, 8);
    fields.writeUInt32LE(entry.declaredCrc ?? crc32(content), 10);
    fields.writeUInt32LE(entry.declaredPacked ?? data.length, 14);
    fields.writeUInt32LE(entry.declaredSize ?? content.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const at = entry.sameBytesAs === undefined ? offset : (offsets[entry.sameBytesAs] ?? 0);
    offsets.push(at);
    if (entry.sameBytesAs === undefined) {
      const local = Buffer.concat([Buffer.from([0x50, 0x4b, 3, 4]), fields, name, data]);
      pieces.push(local);
      offset += local.length;
    }
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 6);
    rest.writeUInt32LE(at, 10);
    records.push(Buffer.concat([Buffer.from([0x50, 0x4b, 1, 2, 20, entry.madeOn ?? 3]), fields, rest, name]));
  }
  const directory = Buffer.concat(records);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x0605_4b50, 0);
  end.writeUInt16LE(options.declaredEntries ?? entries.length, 8);
  end.writeUInt16LE(options.declaredEntries ?? entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...pieces, directory, end]);
}
