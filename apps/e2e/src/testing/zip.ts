import yazl from "yazl";
import { inflateRawSync } from "node:zlib";

export interface ArchiveEntry {
  /** Ends in `/` for a directory. */
  readonly name: string;
  /** Content, or a link's target. */
  readonly content: string;
  /** Type and permissions as in `stat`; default 0644, or 0755 for a directory. */
  readonly mode?: number;
}

export const linkMode = 0o120777;

export async function zipOf(entries: readonly ArchiveEntry[]): Promise<Uint8Array<ArrayBuffer>> {
  const zip = new yazl.ZipFile();
  for (const { name, content, mode } of entries) {
    if (name.endsWith("/")) zip.addEmptyDirectory(name, { mode: mode ?? 0o040755 });
    else zip.addBuffer(Buffer.from(content), name, { mode: mode ?? 0o100644 });
  }
  zip.end();
  const chunks: Uint8Array[] = [];
  for await (const chunk of zip.outputStream) chunks.push(chunk as Buffer);
  return new Uint8Array(Buffer.concat(chunks));
}

/** Replaces a name in an archive by another of the same length, which libraries refuse to write. */
export function renameEntry(archive: Uint8Array<ArrayBuffer>, from: string, to: string): Uint8Array<ArrayBuffer> {
  if (from.length !== to.length) throw new Error("The names differ in length.");
  return new Uint8Array(Buffer.from(Buffer.from(archive).toString("latin1").replaceAll(from, to), "latin1"));
}

interface CentralEntry {
  readonly name: string;
  readonly method: number;
  readonly compressedBytes: number;
  /** Of its header. */
  readonly offset: number;
}

/** The central directory, in order. Archives of 4 GiB and more are not supported. */
function entriesIn(bytes: Buffer): CentralEntry[] {
  const end = bytes.lastIndexOf("PK\x05\x06", undefined, "latin1");
  if (end === -1) throw new Error("It is not a whole ZIP archive.");
  const entries: CentralEntry[] = [];
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset));
    entries.push({
      name: bytes.toString("utf8", at + 46, at + 46 + (nameBytes ?? 0)),
      method: bytes.readUInt16LE(at + 10),
      compressedBytes: bytes.readUInt32LE(at + 20),
      offset: bytes.readUInt32LE(at + 42),
    });
    at += 46 + (nameBytes ?? 0) + (extraBytes ?? 0) + (commentBytes ?? 0);
  }
  return entries;
}

/** Names in an archive's central directory, in order. */
export function namesIn(archive: Uint8Array): string[] {
  return entriesIn(Buffer.from(archive)).map(({ name }) => name);
}

/** The files of an archive, in order. */
export function filesIn(archive: Uint8Array): Map<string, Buffer> {
  const bytes = Buffer.from(archive);
  return new Map(
    entriesIn(bytes).map(({ compressedBytes, method, name, offset }) => {
      const start = offset + 30 + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
      const content = bytes.subarray(start, start + compressedBytes);
      return [name, method === 0 ? content : inflateRawSync(content)];
    }),
  );
}

/** Content of the first file of a compressed archive. */
export function firstFileIn(archive: Uint8Array): string {
  const bytes = Buffer.from(archive);
  return inflateRawSync(bytes.subarray(30 + bytes.readUInt16LE(26) + bytes.readUInt16LE(28))).toString();
}
