import { ServiceError } from "@shoal/router";
import { lstat, readlink, realpath } from "node:fs/promises";
import { isAbsolute, join, posix, relative, sep } from "node:path";
import { fileSystemError, hasCode, invalidInput, notADirectory } from "./errors.ts";

/** Where the API's paths lead. */
export interface SessionRoot {
  /** Directory of the host that plays `/`: `/` itself in a box of its own, else one that no API path leaves. Must exist. */
  readonly directory: string;
  /** Home directory, as an API path; it is never deleted or moved. */
  readonly home: string;
  /** Directory of the host for uploads whose place is not known yet; the system's temporary directory when absent. Must exist. */
  readonly spoolDirectory?: string;
}

/** What an API path leads to, with every link on the way followed. */
export interface Location {
  /** The API path, normalised: what messages and answers name. */
  readonly path: string;
  /** Path of the deepest directory, or of the file itself, that exists. It holds no link, but for a last one that was not to be followed. */
  readonly existing: string;
  /** Names below `existing` that do not exist yet, outermost first; empty when the path exists. */
  readonly missing: readonly string[];
}

const maxPathLength = 4096;
/** As many links as Linux follows. */
const maxLinks = 40;
/** Names that Windows gives to devices, whatever their extension. */
const windowsDevice = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/**
 * Normalises an API path: `.`, `..` and repeated slashes go, without a look at the filesystem (`/link/..` is `/`, wherever `link` leads); `..` at the top stays there.
 *
 * @param field - names the value in an error: `body.path`.
 * @throws {ServiceError} 400 for what is no absolute path.
 */
export function normalisePath(path: string, field: string): string {
  if (!path.startsWith("/")) throw invalidInput(field, "must be absolute, beginning with /");
  if (path.length > maxPathLength) throw invalidInput(field, `must have at most ${maxPathLength} characters`);
  if (path.includes("\0")) throw invalidInput(field, "must not hold a NUL character");
  if (!path.isWellFormed()) throw invalidInput(field, "must be valid Unicode: half of a surrogate pair names no file");
  const normal = posix.normalize(path);
  const trimmed = normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
  for (const name of segmentsOf(trimmed)) {
    const problem = nameProblem(name);
    if (problem !== undefined) throw invalidInput(field, problem);
  }
  return trimmed;
}

/** Why the system cannot have a file of this name, or takes it for something else than a name; `undefined` when it can. */
export function nameProblem(name: string, platform: NodeJS.Platform = process.platform): string | undefined {
  if (Buffer.byteLength(name) > 255) return `the name ${name.slice(0, 40)}… is longer than 255 bytes`;
  if (platform !== "win32") return undefined;
  // A backslash, a colon or a trailing dot would make a name lead elsewhere.
  if (/[\\/:*?"<>|]/.test(name) || /[. ]$/.test(name) || windowsDevice.test(name)) return `Windows cannot have a file named ${name}`;
  return undefined;
}

/** Names of a normalised API path. */
export function segmentsOf(path: string): string[] {
  return path === "/" ? [] : path.slice(1).split("/");
}

/**
 * Path of the host for a normalised API path.
 *
 * In a box (`directory` is `/`) this is the path itself: there is nothing outside to reach. Elsewhere the path is walked as {@link locate} does,
 * so that no link leads out. (A program of the session that swaps a directory for a link in the middle of a call can defeat that; such a placement isolates nothing anyway.)
 *
 * @param options.follow - whether a link at the end of the path is followed.
 * @throws {ServiceError} 403 `permission_denied` for a path that leaves `directory`.
 */
export async function hostPath(root: SessionRoot, path: string, options: { readonly follow: boolean; readonly action: string }): Promise<string> {
  if (root.directory === "/") return path;
  const { existing, missing } = await locate(root, path, options);
  return join(existing, ...missing);
}

/** The host's real path of the root. */
export async function topOf(root: SessionRoot): Promise<string> {
  return root.directory === "/" ? "/" : realpath(root.directory);
}

/**
 * Walks an API path link by link, to what exists of it.
 *
 * Where `directory` is not `/`, an absolute link means a path of the host, as it does to the session's programs: one that leads below
 * `directory` is followed, any other, and a relative one that climbs out, is refused.
 *
 * @param options.follow - whether a link at the end of the path is followed; a dangling one leads to what it names.
 * @param options.action - for errors, what is tried: `read`.
 * @throws {ServiceError} 403 for a path that leaves `directory`, 400 for one that goes through a file or around in circles.
 */
export async function locate(root: SessionRoot, path: string, options: { readonly follow: boolean; readonly action: string }): Promise<Location> {
  const { action } = options;
  try {
    const top = await topOf(root);
    const pending = segmentsOf(path).reverse();
    let current = top;
    let links = 0;
    for (;;) {
      const name = pending.pop();
      if (name === undefined) return { path, existing: current, missing: [] };
      if (name === "" || name === ".") continue;
      if (name === "..") {
        if (current !== top) current = join(current, "..");
        else if (top !== "/") throw leaves(action, path);
        continue;
      }
      const next = join(current, name);
      const stats = await lstat(next).catch((error: unknown) => {
        if (hasCode(error, "ENOENT")) return undefined;
        throw error;
      });
      if (stats === undefined) {
        const missing = [name, ...pending.reverse()];
        if (missing.includes("..")) throw fileSystemError(Object.assign(new Error("no such directory"), { code: "ENOENT" }), action, path);
        return { path, existing: current, missing: missing.filter((part) => part !== "" && part !== ".") };
      }
      if (stats.isSymbolicLink() && (pending.length > 0 || options.follow)) {
        if (++links > maxLinks) throw fileSystemError(Object.assign(new Error("too many links"), { code: "ELOOP" }), action, path);
        const target = await readlink(next);
        const absolute = isAbsolute(target);
        const names = absolute ? namesBelow([top, root.directory], target) : target.split(sep);
        if (names === undefined) throw leaves(action, path);
        if (absolute) current = top;
        pending.push(...names.reverse());
        continue;
      }
      if (pending.length > 0 && !stats.isDirectory()) {
        throw notADirectory(action, path, "below something that is not a directory", "Look at the parts of the path with file_info.");
      }
      current = next;
    }
  } catch (error) {
    throw fileSystemError(error, action, path);
  }
}

/** Names of an absolute link's target below the root, by whichever of its two paths it goes. */
function namesBelow(starts: readonly string[], target: string): string[] | undefined {
  for (const start of starts) {
    const prefix = start.endsWith(sep) ? start : start + sep;
    // Compared as text and split, not normalised: a `..` after a link must be walked.
    if (`${target}${sep}`.startsWith(prefix)) return target.slice(prefix.length).split(sep);
  }
  return undefined;
}

function leaves(action: string, path: string): ServiceError {
  return new ServiceError(
    403,
    "permission_denied",
    `Cannot ${action} ${path}: a symbolic link on it leads out of the session's directory. Use a path that stays inside.`,
  );
}

/** The API path of a path of the host below the root; `undefined` for one that is not below it. */
export function apiPath(top: string, path: string): string | undefined {
  const below = relative(top, path);
  if (below === "") return "/";
  if (below === ".." || below.startsWith(`..${sep}`) || isAbsolute(below)) return undefined;
  return `/${below.split(sep).join("/")}`;
}

/** The last name of a normalised API path; `/` of the root. */
export function baseName(path: string): string {
  return path === "/" ? "/" : path.slice(path.lastIndexOf("/") + 1);
}

/** The API path of what holds a path; `/` of the root. */
export function parentPath(path: string): string {
  return posix.dirname(path);
}
