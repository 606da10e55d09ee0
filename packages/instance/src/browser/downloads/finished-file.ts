import { constants, type BigIntStats } from "node:fs";
import { lstat, open, rm, type FileHandle } from "node:fs/promises";

export interface MeasuredFile {
  readonly sizeBytes: number;
  /** `undefined` if the file changed while it was read. */
  readonly sha256: string | undefined;
}

const chunkBytes = 256 * 1024;
/** A pipe must not block, and a link may lead anywhere. Undefined on Windows, which counts as 0. */
const readOnly = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Returns `undefined` if the path is not a readable regular file. Reads no more than the size at the beginning. */
export async function measureFile(path: string): Promise<MeasuredFile | undefined> {
  try {
    await using handle = await open(path, readOnly);
    const before = await handle.stat({ bigint: true });
    if (!before.isFile()) return undefined;
    // Most sessions download nothing, and need not load it.
    const { createHash } = await import("node:crypto");
    const hash = createHash("sha256");
    for await (const chunk of contentOf(handle, before)) hash.update(chunk);
    const now = await lstat(path, { bigint: true });
    const isSame = isUnchanged(before, await handle.stat({ bigint: true })) && now.ino === before.ino;
    return { sizeBytes: Number(before.size), sha256: isSame ? hash.digest("hex") : undefined };
  } catch {
    return undefined;
  }
}

/** Copies a regular file to a new one, which is removed on failure. @throws EEXIST if `to` exists. */
export async function copyFileTo(from: string, to: string): Promise<void> {
  await using source = await open(from, readOnly);
  const stats = await source.stat({ bigint: true });
  if (!stats.isFile()) throw new Error("not a regular file");
  await using target = await open(to, "wx", Number(stats.mode) & 0o777);
  try {
    for await (const chunk of contentOf(source, stats)) await target.appendFile(chunk);
  } catch (error) {
    await rm(to, { force: true });
    throw error;
  }
}

async function* contentOf(handle: FileHandle, { size }: BigIntStats): AsyncGenerator<Buffer, void, undefined> {
  for (let left = Number(size); left > 0;) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(Math.min(left, chunkBytes)));
    if (bytesRead === 0) return;
    left -= bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

function isUnchanged(before: BigIntStats, after: BigIntStats): boolean {
  return before.size === after.size && before.mtimeNs === after.mtimeNs;
}
