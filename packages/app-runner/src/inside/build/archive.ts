import { errorOf } from "@shoal/primitives";
import type { Channel } from "../../protocol/channel.ts";
import { BuildFailure } from "./build-failure.ts";
import { createReadStream, createWriteStream } from "node:fs";
import { chmod, lstat, mkdir, open, readdir, readlink, symlink } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createZstdCompress, createZstdDecompress, constants } from "node:zlib";
import { extract, pack } from "tar-stream";

const chunkBytes = 256 * 1024;
const gzipMagic = 0x1f8b;

/** Sends a folder as a compressed tar archive with paths relative to `root`. */
export async function sendFolder(channel: Channel, root: string, name: string): Promise<void> {
  const archive = pack();
  const compress = createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: 1 } });
  const send = new Writable({
    write(chunk: Buffer, _encoding, done) {
      sendInChunks(channel, chunk).then(() => {
        done();
      }, done);
    },
  });
  const sent = pipeline(archive, compress, send);
  const filled = fill(archive, root, name).catch((error: unknown) => {
    archive.destroy(errorOf(error));
  });
  await Promise.all([sent, filled]);
  channel.send({ type: "file_end" });
}

async function sendInChunks(channel: Channel, bytes: Buffer): Promise<void> {
  for (let start = 0; start < bytes.length; start += chunkBytes)
    await channel.sendBytes(bytes.subarray(start, start + chunkBytes));
}

async function fill(archive: ReturnType<typeof pack>, root: string, name: string): Promise<void> {
  await add(archive, root, join(root, name));
  archive.finalize();
}

async function add(archive: ReturnType<typeof pack>, root: string, path: string): Promise<void> {
  const name = relative(root, path).split(sep).join("/");
  const found = await lstat(path);
  const mode = found.mode & 0o111 ? 0o755 : 0o644;
  if (found.isSymbolicLink()) archive.entry({ name, type: "symlink", linkname: await readlink(path), mode: 0o777 });
  else if (found.isDirectory()) {
    if (name !== "") archive.entry({ name, type: "directory", mode: 0o755 });
    for (const child of (await readdir(path)).toSorted()) await add(archive, root, join(path, child));
  } else if (found.isFile()) await addFile(archive, path, { name, size: found.size, mode });
}

async function addFile(
  archive: ReturnType<typeof pack>,
  path: string,
  header: { readonly name: string; readonly size: number; readonly mode: number },
): Promise<void> {
  const entry = archive.entry(header);
  await pipeline(createReadStream(path, { end: Math.max(0, header.size - 1) }), entry);
}

interface Limits {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

/** Unpacks a tar archive, compressed with gzip or zstd. Links are made last, so that no file is written through one. */
export async function unpack(path: string, to: string, { maxBytes, maxFiles }: Limits): Promise<void> {
  const links: { readonly at: string; readonly target: string }[] = [];
  const made = new Set<string>();
  let bytes = 0;
  let files = 0;
  const parse = extract();
  const fed = pipeline(createReadStream(path), await decompressorOf(path), parse);
  const read = (async () => {
    for await (const entry of parse) {
      const { name, type, size, mode, linkname } = entry.header;
      files += 1;
      bytes += size;
      if (files > maxFiles) throw new BuildFailure(`The archive has more than ${String(maxFiles)} files.`);
      if (bytes > maxBytes) throw new BuildFailure(`The archive has more than ${String(maxBytes)} bytes.`);
      const at = resolve(to, name);
      if (at !== to && !at.startsWith(to + sep))
        throw new BuildFailure(`The archive has a path outside of it: ${name}`);
      if (type === "directory") await makeFolder(at, made);
      else if (type === "file") {
        await makeFolder(dirname(at), made);
        await pipeline(entry, createWriteStream(at, { mode: mode & 0o111 ? 0o755 : 0o644 }));
      } else if (type === "symlink" && typeof linkname === "string") links.push({ at, target: linkname });
      entry.resume();
    }
  })();
  await Promise.all([fed, read]);
  for (const { at, target } of links) {
    await makeFolder(dirname(at), made);
    await symlink(target, at);
  }
}

async function makeFolder(path: string, made: Set<string>): Promise<void> {
  if (made.has(path)) return;
  await mkdir(path, { recursive: true });
  await chmod(path, 0o755).catch(() => undefined);
  made.add(path);
}

async function decompressorOf(path: string): Promise<NodeJS.ReadWriteStream> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return buffer.readUInt16BE() === gzipMagic ? createGunzip() : createZstdDecompress();
  } finally {
    await file.close();
  }
}
