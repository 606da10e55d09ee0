import { createHash } from "node:crypto";
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Where fontconfig keeps what it knows of the system's fonts. */
export const fontCachePath = "/var/cache/fontconfig";
/** Directories of fonts that a box sees. */
const fontFolders = ["/usr/share/fonts", "/usr/local/share/fonts"];

/**
 * Copies what the host's fontconfig has found in the fonts that boxes see too, so that no browser in a box has to open every font to find out again.
 * Caches of other directories, such as root's own, stay behind; one that is out of date does no harm.
 *
 * @param to - is made.
 * @returns whether there is anything.
 */
export async function copyFontCache(to: string): Promise<boolean> {
  const caches = await readdir(fontCachePath).catch(() => []);
  if (caches.length === 0) return false;
  const nested = await Promise.all(fontFolders.map((folder) => foldersIn(folder)));
  // The name of a cache is its directory's path as MD5, then processor and format.
  const wanted = new Set(nested.flat().map((folder) => createHash("md5").update(folder).digest("hex")));
  const copied = caches.filter((name) => wanted.has(name.split("-")[0] ?? ""));
  if (copied.length === 0) return false;
  await mkdir(to, { mode: 0o755 });
  const done = await Promise.allSettled(copied.map((name) => copyFile(join(fontCachePath, name), join(to, name))));
  return done.some(({ status }) => status === "fulfilled");
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return [folder, ...entries.filter((entry) => entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name))];
}
