import { hasCode } from "@shoal/primitives";
import { nameProblem as commonNameProblem, parentNotADirectory, pathProblem } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import { lstat, readlink, realpath } from "node:fs/promises";
import { isAbsolute, join, posix, relative, sep } from "node:path";
import { fileSystemError, invalidInput } from "./errors.ts";

export interface SessionRoot {
  /** The host's directory for `/`: `/` in a box, otherwise a directory that no API path leaves. Must exist. */
  readonly directory: string;
  /** API path. Cannot be deleted or moved. */
  readonly home: string;
  /** Directory of the host for uploads without a known destination; by default the system's. Must exist. */
  readonly spoolDirectory?: string;
  /** Without links, no path can lead out of the directory between its check and its use. */
  readonly refusesLinks?: boolean;
}

export interface Location {
  readonly path: string;
  /** Deepest existing part of the path. Contains no link, except a last link that was not followed. */
  readonly existing: string;
  /** Missing names below `existing`; empty when the path exists. */
  readonly missing: readonly string[];
}

/** Linux's limit of links in a path. */
const maxLinks = 40;
/** Windows device names, which are reserved with any extension. */
const windowsDevice = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/** Normalises without reading the filesystem: `/link/..` is `/`. `..` cannot leave the root. `field` is for errors. */
export function normalisePath(path: string, field: string): string {
  const refusal = pathProblem(field, path);
  if (refusal !== undefined) throw ServiceError.of(refusal);
  const normal = posix.normalize(path);
  const trimmed = normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
  for (const name of segmentsOf(trimmed)) {
    const problem = nameProblem(name);
    if (problem !== undefined) throw invalidInput(field, problem);
  }
  return trimmed;
}

export function nameProblem(name: string, platform: NodeJS.Platform = process.platform): string | undefined {
  const problem = commonNameProblem(name);
  if (problem !== undefined || platform !== "win32") return problem;
  // With a backslash, a colon or a trailing dot, the name would mean another path.
  if (/[\\/:*?"<>|]/.test(name) || /[. ]$/.test(name) || windowsDevice.test(name))
    return `Windows cannot have a file named ${name}`;
  return undefined;
}

export function segmentsOf(path: string): string[] {
  return path === "/" ? [] : path.slice(1).split("/");
}

/**
 * Without a box, programs could swap a directory for a link during a call, but they are not isolated anyway.
 * @throws {ServiceError} 403 `permission_denied` for a path outside `directory`.
 */
export async function hostPath(
  root: SessionRoot,
  path: string,
  options: { readonly follow: boolean; readonly action: string },
): Promise<string> {
  if (root.directory === "/") return path;
  const { existing, missing } = await locate(root, path, options);
  return join(existing, ...missing);
}

export async function topOf(root: SessionRoot): Promise<string> {
  return root.directory === "/" ? "/" : realpath(root.directory);
}

/**
 * Link by link, as far as the path exists. Unless `directory` is `/`, absolute links are paths of the host, as for the
 * session's programs, and links out of `directory` are rejected.
 */
export async function locate(
  root: SessionRoot,
  path: string,
  options: { readonly follow: boolean; readonly action: string },
): Promise<Location> {
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
        if (missing.includes(".."))
          throw fileSystemError(Object.assign(new Error("no such directory"), { code: "ENOENT" }), action, path);
        return { path, existing: current, missing: missing.filter((part) => part !== "" && part !== ".") };
      }
      if (stats.isSymbolicLink() && (pending.length > 0 || options.follow)) {
        if (++links > maxLinks)
          throw fileSystemError(Object.assign(new Error("too many links"), { code: "ELOOP" }), action, path);
        const target = await readlink(next);
        const absolute = isAbsolute(target);
        const names = absolute ? namesBelow([top, root.directory], target) : target.split(sep);
        if (names === undefined) throw leaves(action, path);
        if (absolute) current = top;
        pending.push(...names.reverse());
        continue;
      }
      if (pending.length > 0 && !stats.isDirectory()) {
        throw ServiceError.of(parentNotADirectory(action, path));
      }
      current = next;
    }
  } catch (error) {
    throw fileSystemError(error, action, path);
  }
}

/** Names of an absolute link's target below the root, given as either of its two paths. */
function namesBelow(starts: readonly string[], target: string): string[] | undefined {
  for (const start of starts) {
    const prefix = start.endsWith(sep) ? start : start + sep;
    // Split without normalising: a `..` after a link must be walked.
    if (`${target}${sep}`.startsWith(prefix)) return target.slice(prefix.length).split(sep);
  }
  return undefined;
}

function leaves(action: string, path: string): ServiceError {
  return new ServiceError(
    403,
    "permission_denied",
    `Cannot ${action} ${path}: a symbolic link on it leads out of the session's directory.`,
    { hint: "Use a path that stays inside." },
  );
}

/** Returns `undefined` for a path outside the root. */
export function apiPath(top: string, path: string): string | undefined {
  const below = relative(top, path);
  if (below === "") return "/";
  if (below === ".." || below.startsWith(`..${sep}`) || isAbsolute(below)) return undefined;
  return `/${below.split(sep).join("/")}`;
}

export function baseName(path: string): string {
  return path === "/" ? "/" : path.slice(path.lastIndexOf("/") + 1);
}

export function parentPath(path: string): string {
  return posix.dirname(path);
}
