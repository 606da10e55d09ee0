import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { chmod, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const elfMagic = "\x7fELF";
/** Of 64-bit little-endian ELF files, the only format of Node. */
const headerBytes = 64;
const programHeaderBytes = 56;
const interpreterType = 3;
const maxPathBytes = 4_096;
const tryTimeoutMs = 10_000;

/**
 * Copies the dynamic loader as an unreadable file, once per content. Others of the same user cannot trace its
 * processes, or open their memory, environment and descriptors in `/proc`.
 * @returns `undefined` if Node has no loader or does not start with it.
 * @see {@link https://man7.org/linux/man-pages/man2/PR_SET_DUMPABLE.2const.html}
 */
export async function makeNodeLoader(parent: string): Promise<string | undefined> {
  const fresh = join(parent, `.loader-${randomBytes(6).toString("hex")}`);
  try {
    const loader = await loaderOf(process.execPath);
    if (loader === undefined) return undefined;
    await run(loader, [process.execPath, "--version"], { timeout: tryTimeoutMs, killSignal: "SIGKILL", env: {} });
    const content = await readFile(loader);
    const path = join(parent, `loader-${createHash("sha256").update(content).digest("hex").slice(0, 16)}`);
    await writeFile(fresh, content);
    await chmod(fresh, 0o111);
    await rename(fresh, path);
    return path;
  } catch {
    await rm(fresh, { force: true });
    return undefined;
  }
}

/** `undefined` for a static program. */
async function loaderOf(program: string): Promise<string | undefined> {
  const file = await open(program);
  try {
    const readAt = async (position: number, length: number) =>
      (await file.read(Buffer.alloc(length), 0, length, position)).buffer;
    const header = await readAt(0, headerBytes);
    if (header.toString("latin1", 0, 4) !== elfMagic) return undefined;
    const [tableOffset, count] = [Number(header.readBigUInt64LE(32)), header.readUInt16LE(56)];
    const table = await readAt(tableOffset, count * programHeaderBytes);
    for (let at = 0; at < table.length; at += programHeaderBytes) {
      if (table.readUInt32LE(at) !== interpreterType) continue;
      const [offset, length] = [Number(table.readBigUInt64LE(at + 8)), Number(table.readBigUInt64LE(at + 32))];
      return (await readAt(offset, Math.min(length, maxPathBytes))).toString("utf8").split("\0", 1).join("");
    }
    return undefined;
  } finally {
    await file.close();
  }
}
