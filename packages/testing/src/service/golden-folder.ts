import { schemaDigest } from "@shoal/database";
import { version } from "@shoal/server";
import { mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

/** Of other versions, after which they are removed. */
const keptMs = 14 * 24 * 60 * 60 * 1000;
const freshPrefix = "new-";

function cacheFolder(): string {
  const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env;
  const usual =
    process.platform === "darwin"
      ? join(homedir(), "Library", "Caches")
      : ((process.platform === "win32" ? LOCALAPPDATA : XDG_CACHE_HOME) ?? join(homedir(), ".cache"));
  return join(usual, "shoal", "testing");
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/**
 * Returns the data folder of a service that started once, in the cache of this user. It is made once for each version;
 * fakes copy it.
 * @param make - fills a missing folder.
 */
export async function goldenFolder(make: (folder: string) => Promise<void>): Promise<string> {
  const cache = cacheFolder();
  const golden = join(cache, `${version}-${schemaDigest()}`);
  if (await exists(golden)) {
    const now = new Date();
    await utimes(golden, now, now).catch(() => undefined);
    return golden;
  }
  await mkdir(cache, { recursive: true, mode: 0o700 });
  await removeUnused(cache);
  const draft = await mkdtemp(join(cache, freshPrefix));
  try {
    await make(join(draft, "data"));
    await rename(join(draft, "data"), golden);
  } catch (error) {
    // Another process was faster.
    if (!(await exists(golden))) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true, maxRetries: 5 });
  }
  return golden;
}

async function removeUnused(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > keptMs)
      await rm(path, { recursive: true, force: true, maxRetries: 5 });
  }
}
