import { hasCode } from "@shoal/primitives";
import { protectedPath, type ProtectedAction } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { apiPath, segmentsOf, topOf, type SessionRoot } from "./paths.ts";

export interface Doomed {
  readonly path: string;
  /** Real path of the host. */
  readonly place: string;
  readonly action: ProtectedAction;
}

/** Rejects the root, the home directory, mounts (on Linux), and parents of these, with 403 `protected_path`. */
export async function refuseProtected(root: SessionRoot, doomed: Doomed): Promise<void> {
  const { action, path, place } = doomed;
  const refuse = (reason: string) => ServiceError.of(protectedPath(action, path, reason));
  const top = await topOf(root);
  if (place === top) throw refuse("it is the root of the filesystem");
  const home = await realOrSame(join(top, ...segmentsOf(root.home)));
  if (isWithin(place, home))
    throw refuse(place === home ? "it is the home directory" : `it holds the home directory ${root.home}`);
  for (const mount of await mountPoints(place)) {
    if (isWithin(place, mount))
      throw refuse(
        place === mount
          ? "a filesystem is mounted on it"
          : `a filesystem is mounted in it, on ${apiPath(top, mount) ?? "a directory"}`,
      );
  }
}

export function isWithin(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}

async function realOrSame(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

async function mountPoints(place: string): Promise<string[]> {
  try {
    return parseMountInfo(await readFile("/proc/self/mountinfo", "utf8"));
  } catch (error) {
    if (!hasCode(error, "ENOENT", "EACCES")) throw error;
  }
  const [own, above] = await Promise.all([stat(place), stat(dirname(place))]);
  return own.dev === above.dev ? [] : [place];
}

/** Reads the mount points of `/proc/self/mountinfo` (proc(5)), whose fields have octal escapes. */
export function parseMountInfo(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const field = line.split(" ")[4];
    return field === undefined
      ? []
      : [field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))];
  });
}
