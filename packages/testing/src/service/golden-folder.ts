import { schemaDigest } from "@shoal/database";
import { version } from "@shoal/server";
import { chmod, lstat, mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { folderMode, openFakeFolder } from "./fake-folder.ts";
import { startError } from "./start-error.ts";

/** Of other versions, after which they are removed. */
const keptMs = 14 * 24 * 60 * 60 * 1000;
const draftPrefix = "new-";
const removal = { recursive: true, force: true, maxRetries: 5 } as const;

/** Data of a service that started once. Fakes copy it. */
export interface Golden {
  readonly path: string;
  /** Removes it, for a copy that does not start. */
  discard(): Promise<void>;
}

function cacheFolder(): string {
  const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env;
  const usual = (): string => {
    if (process.platform === "win32") return LOCALAPPDATA ?? join(homedir(), "AppData", "Local");
    if (XDG_CACHE_HOME !== undefined && isAbsolute(XDG_CACHE_HOME)) return XDG_CACHE_HOME;
    if (process.platform === "darwin") return join(homedir(), "Library", "Caches");
    // Other users, one of which may run PostgreSQL, cannot pass through the home of root.
    return process.geteuid?.() === 0 ? "/var/cache" : join(homedir(), ".cache");
  };
  return join(usual(), "shoal", "testing");
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/**
 * Returns the golden folder of this version, in the cache of this user. Processes that make it at the same time keep the
 * first one.
 * @param make - fills an empty folder.
 * @throws {Error} if the cache is not writable, or belongs to another user.
 */
export async function goldenFolder(make: (folder: string) => Promise<void>): Promise<Golden> {
  const cache = cacheFolder();
  const path = join(cache, `${version}-${schemaDigest()}`);
  const golden = { path, discard: () => discard(path, cache) };
  try {
    await openCache(cache);
    if (await exists(path)) {
      const now = new Date();
      await utimes(path, now, now).catch(() => undefined);
      return golden;
    }
    await removeUnused(cache);
    await using drafts = await openFakeFolder(cache, draftPrefix);
    const draft = join(drafts.path, "data");
    await mkdir(draft);
    await chmod(draft, folderMode);
    await make(draft);
    await rename(draft, path).catch(async (error: unknown) => {
      // Another process was faster.
      if (!(await exists(path))) throw error;
    });
  } catch (error) {
    throw startError(error, cache);
  }
  return golden;
}

async function openCache(cache: string): Promise<void> {
  await mkdir(cache, { recursive: true, mode: folderMode });
  if (process.platform === "win32") return;
  const { mode, uid } = await lstat(cache);
  if (uid !== process.geteuid?.() || (mode & 0o022) !== 0)
    throw new Error(
      `Other users may write to ${cache}, whose files the fake starts. Remove it, or set XDG_CACHE_HOME to a folder of this user.`,
    );
  await chmod(cache, folderMode);
}

/** Renamed first, so that no process copies a part of it. */
async function discard(path: string, cache: string): Promise<void> {
  await using draft = await openFakeFolder(cache, draftPrefix);
  await rename(path, join(draft.path, "data")).catch(() => undefined);
}

async function removeUnused(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > keptMs) await rm(path, removal).catch(() => undefined);
  }
}
