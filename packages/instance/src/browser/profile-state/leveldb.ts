import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { zstdDecompressSync } from "node:zlib";
import { unsnappy } from "./snappy.ts";

const logBlockBytes = 32 * 1024;
const logHeaderBytes = 7;
const footerBytes = 48;
const tableMagic = 0xdb4775248b80fb57n;

class Reader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }
  /** Seven bits a byte, lowest first. */
  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#bytes.readUInt8(this.#at++);
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }
  take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) throw new RangeError("the database is cut off");
    return this.#bytes.subarray(this.#at, (this.#at += length));
  }
  /** Bytes with their length in front. */
  slice(): Buffer {
    return this.take(this.varint());
  }
}

function* logRecords(file: Buffer): Generator<Buffer, void, undefined> {
  let parts: Buffer[] = [];
  for (let at = 0; at + logHeaderBytes <= file.length;) {
    const left = logBlockBytes - (at % logBlockBytes);
    if (left < logHeaderBytes) {
      at += left;
      continue;
    }
    const length = file.readUInt16LE(at + 4);
    const type = file.readUInt8(at + 6);
    const end = at + logHeaderBytes + length;
    // Preallocated space, or an incomplete record.
    if (type === 0 || type > 4 || length > left - logHeaderBytes || end > file.length) return;
    // "First" and "full" records start a new one.
    if (type === 1 || type === 2) parts = [];
    parts.push(file.subarray(at + logHeaderBytes, end));
    if (type === 1 || type === 4) yield Buffer.concat(parts);
    at = end;
  }
}

function readManifest(file: Buffer): { readonly tables: ReadonlySet<number>; readonly logs: (log: number) => boolean } {
  const tables = new Set<number>();
  let firstLog = 0;
  let previousLog = 0;
  for (const record of logRecords(file)) {
    const reader = new Reader(record);
    while (!reader.done) {
      switch (reader.varint()) {
        case 1:
          reader.slice();
          break;
        case 2:
          firstLog = reader.varint();
          break;
        case 3:
        case 4:
          reader.varint();
          break;
        case 5:
          reader.varint();
          reader.slice();
          break;
        case 6:
          reader.varint();
          tables.delete(reader.varint());
          break;
        case 7:
          reader.varint();
          tables.add(reader.varint());
          reader.varint();
          reader.slice();
          reader.slice();
          break;
        case 9:
          previousLog = reader.varint();
          break;
        default:
          throw new RangeError("the database's list of files is of another kind");
      }
    }
  }
  return { tables, logs: (log) => log >= firstLog || log === previousLog };
}

function readBlock(file: Buffer, handle: Reader): Buffer {
  const offset = handle.varint();
  const size = handle.varint();
  const block = file.subarray(offset, offset + size);
  switch (file.readUInt8(offset + size)) {
    case 0:
      return block;
    case 1:
      return unsnappy(block);
    case 2:
      return zstdDecompressSync(block);
    default:
      throw new RangeError("the database is compressed in an unknown way");
  }
}

/** Keys in a block share prefixes. */
function* blockEntries(block: Buffer): Generator<readonly [Buffer, Buffer], void, undefined> {
  const restarts = block.readUInt32LE(block.length - 4);
  const reader = new Reader(block.subarray(0, block.length - 4 - 4 * restarts));
  let key = Buffer.alloc(0);
  while (!reader.done) {
    const shared = reader.varint();
    const own = reader.varint();
    const valueBytes = reader.varint();
    key = Buffer.concat([key.subarray(0, shared), reader.take(own)]);
    yield [key, reader.take(valueBytes)];
  }
}

/** Value of a key at a sequence number; `undefined` when it was removed. */
interface Version {
  readonly sequence: bigint;
  readonly value: Buffer | undefined;
}

/** Reads Chromium's local storage database. A running browser's pending writes are missing. Keys are `latin1`. */
export async function readLevelDb(folder: string): Promise<Map<string, Buffer>> {
  const current = await readFile(join(folder, "CURRENT"), "latin1");
  const { tables, logs } = readManifest(await readFile(join(folder, current.trim())));
  const found = new Map<string, Version>();
  function note(key: Buffer, sequence: bigint, value: Buffer | undefined): void {
    const name = key.toString("latin1");
    const known = found.get(name);
    if (known === undefined || known.sequence <= sequence) found.set(name, { sequence, value });
  }

  for (const table of tables) {
    const file = await readTable(folder, table);
    const footer = file.subarray(file.length - footerBytes);
    if (footer.readBigUInt64LE(footerBytes - 8) !== tableMagic)
      throw new RangeError("a table of the database is damaged");
    const handles = new Reader(footer);
    handles.varint();
    handles.varint();
    for (const [, handle] of blockEntries(readBlock(file, handles))) {
      for (const [key, value] of blockEntries(readBlock(file, new Reader(handle)))) {
        const tail = key.readBigUInt64LE(key.length - 8);
        note(key.subarray(0, key.length - 8), tail >> 8n, (tail & 255n) === 0n ? undefined : value);
      }
    }
  }
  for (const log of (await logFiles(folder)).filter(logs)) {
    for (const batch of logRecords(await readFile(join(folder, `${String(log).padStart(6, "0")}.log`))))
      noteBatch(batch, note);
  }
  return new Map([...found].flatMap(([key, { value }]) => (value === undefined ? [] : [[key, value] as const])));
}

function noteBatch(batch: Buffer, note: (key: Buffer, sequence: bigint, value: Buffer | undefined) => void): void {
  let sequence = batch.readBigUInt64LE(0);
  const reader = new Reader(batch, 12);
  while (!reader.done) {
    const isPut = reader.varint() === 1;
    const key = reader.slice();
    note(key, sequence, isPut ? reader.slice() : undefined);
    sequence += 1n;
  }
}

async function readTable(folder: string, table: number): Promise<Buffer> {
  const name = String(table).padStart(6, "0");
  return readFile(join(folder, `${name}.ldb`)).catch(() => readFile(join(folder, `${name}.sst`)));
}

async function logFiles(folder: string): Promise<number[]> {
  const names = await readdir(folder);
  return names
    .flatMap((name) => /^(\d+)\.log$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}
