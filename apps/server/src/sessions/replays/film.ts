import { createReadStream } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import type { Readable } from "node:stream";

const chunkBytes = 256 * 1024;

export interface OpenedFilm {
  readonly sizeBytes: number;
  /** @param range - inclusive offsets; default: everything. */
  readonly read: (range?: { readonly start: number; readonly end: number }) => Readable;
}

/** @returns `undefined` without a film that can be played. */
export async function openFilm(path: string): Promise<OpenedFilm | undefined> {
  if (!(await isPlayable(path).catch(() => false))) return undefined;
  return {
    sizeBytes: (await stat(path)).size,
    read: (range) => createReadStream(path, { ...range, highWaterMark: chunkBytes }),
  };
}

/** Boxes before the first pictures; films of instances have two. */
const maxBoxesBefore = 16;
const headerBytes = 16;

interface Box {
  readonly type: string;
  readonly sizeBytes: number;
}

/** Parses the header of an MP4 box (ISO/IEC 14496-12, 4.2). @returns `undefined` if invalid. */
async function boxAt(file: FileHandle, offset: number): Promise<Box | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headerBytes), 0, headerBytes, offset);
  if (bytesRead < 8) return undefined;
  const short = buffer.readUInt32BE(0);
  const sizeBytes = short === 1 && bytesRead === headerBytes ? Number(buffer.readBigUInt64BE(8)) : short;
  return sizeBytes < 8 ? undefined : { type: buffer.toString("latin1", 4, 8), sizeBytes };
}

/** A film without a complete fragment of pictures cannot be played. */
export async function isPlayable(path: string): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    let offset = 0;
    let hasFragment = false;
    for (let boxes = 0; boxes < maxBoxesBefore; boxes += 1) {
      const box = await boxAt(file, offset);
      if (box === undefined || offset + box.sizeBytes > size) return false;
      if (box.type === "moof") hasFragment = true;
      if (box.type === "mdat" && hasFragment) return true;
      offset += box.sizeBytes;
    }
    return false;
  } finally {
    await file.close();
  }
}
