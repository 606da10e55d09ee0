import { schemaDigest } from "@shoal/database";
import { version } from "@shoal/server";
import { createHash } from "node:crypto";
import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, relative } from "node:path";
import { folderMode, openFakeFolder } from "./fake-folder.ts";
import { startError } from "./start-error.ts";

/** Of other versions, after which they are removed. */
const keptMs = 14 * 24 * 60 * 60 * 1000;
const draftPrefix = "new-";
const removal = { recursive: true, force: true, maxRetries: 5 } as const;

/** Data of a service that started once. Fakes copy it. */
export interface Golden {
  readonly data: string;
  /**
   * Whether files were changed or removed since it was made: programs that clean caches remove single files. Also true
   * when another process has replaced it: a copy from before may lack files.
   */
  isDamaged(): Promise<boolean>;
  /** Removes it, unless another process has replaced it. */
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

interface Opened {
  readonly path: string;
  readonly cache: string;
  /** Names this golden folder: each has other keys. The system may give its file numbers to the next one. */
  readonly digest: string | undefined;
}

/**
 * Returns the golden folder of this version, in the cache of this user. Processes that make it at the same time keep the
 * first one.
 * @param make - fills an empty folder.
 * @throws {Error} if the cache is not writable, or belongs to another user.
 */
export async function goldenFolder(make: (folder: string) => Promise<void>): Promise<Golden> {
  const cache = cacheFolder();
  try {
    await openCache(cache);
    const path = join(cache, `${version}-${await schemaDigest()}`);
    if (await exists(path)) {
      const now = new Date();
      await utimes(path, now, now).catch(() => undefined);
    } else {
      await removeUnused(cache);
      await makeIn(path, cache, make);
    }
    const opened: Opened = { path, cache, digest: await storedDigest(path) };
    return {
      data: dataIn(path),
      isDamaged: () => isDamaged(opened),
      discard: () => discard(opened),
    };
  } catch (error) {
    throw startError(error, cache);
  }
}

async function makeIn(path: string, cache: string, make: (folder: string) => Promise<void>): Promise<void> {
  await using drafts = await openFakeFolder(cache, draftPrefix);
  const draft = join(drafts.path, "golden");
  for (const folder of [draft, dataIn(draft)]) {
    await mkdir(folder);
    await chmod(folder, folderMode);
  }
  await make(dataIn(draft));
  await writeFile(digestIn(draft), await digestOf(dataIn(draft)));
  await rename(draft, path).catch(async () => {
    // Another process was faster, unless it has already removed what it made.
    if (!(await exists(path))) await rename(draft, path);
  });
}

const dataIn = (folder: string): string => join(folder, "data");
const digestIn = (folder: string): string => join(folder, "digest");

/** Of the names, files and links below a folder. */
async function digestOf(folder: string): Promise<string> {
  const digest = createHash("sha256");
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = entries.map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }));
  for (const { entry, path } of found.sort((a, b) => (a.path < b.path ? -1 : 1))) {
    digest.update(`${relative(folder, path)}\0`);
    if (entry.isSymbolicLink()) digest.update(await readlink(path));
    else if (entry.isFile()) digest.update(await readFile(path));
  }
  return digest.digest("hex");
}

const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";

/** @returns undefined if it is missing, also because another process removes the folder. */
const storedDigest = (path: string): Promise<string | undefined> =>
  readFile(digestIn(path), "utf8").catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });

/** False when it cannot be read, without file handles for instance: that does not make it damaged. */
async function isDamaged({ digest, path }: Opened): Promise<boolean> {
  try {
    return (await storedDigest(path)) !== digest || (await digestOf(dataIn(path))) !== digest;
  } catch (error) {
    return isMissing(error);
  }
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
async function discard({ cache, digest, path }: Opened): Promise<void> {
  await using draft = await openFakeFolder(cache, draftPrefix);
  const present = await storedDigest(path);
  if (present === undefined || present === digest)
    await rename(path, join(draft.path, "golden")).catch(() => undefined);
}

async function removeUnused(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > keptMs) await rm(path, removal).catch(() => undefined);
  }
}
