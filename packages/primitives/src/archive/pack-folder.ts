import { errorOf } from "../error-of.ts";
import { createReadStream } from "node:fs";
import { lstat, readdir, readlink } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Pack, pack } from "tar-stream";

/** Returns a stream with a tar archive of `root`, or of the folder `name` in it, with paths relative to `root`. */
export function packFolder(root: string, name = ""): Pack {
  const archive = pack();
  add(archive, root, join(root, name)).then(
    () => {
      archive.finalize();
    },
    (error: unknown) => {
      archive.destroy(errorOf(error));
    },
  );
  return archive;
}

async function add(archive: Pack, root: string, path: string): Promise<void> {
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
  archive: Pack,
  path: string,
  header: { readonly name: string; readonly size: number; readonly mode: number },
): Promise<void> {
  const entry = archive.entry(header);
  await pipeline(createReadStream(path, { end: Math.max(0, header.size - 1) }), entry);
}
