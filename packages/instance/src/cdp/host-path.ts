import { realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";

/** Longest path that Linux takes, in bytes; a longer one would also be resolved level by level. */
const maxPathBytes = 4096;

/** Where an API path lies on this system; `undefined` when it is relative or too long, or leaves the root by `..` or by a symbolic link. */
export function hostPath(root: string, path: string): string | undefined {
  if (!path.startsWith("/") || path.includes("\0") || Buffer.byteLength(path) > maxPathBytes) return undefined;
  const realRoot = realpathSync(root);
  const real = realPathOf(join(realRoot, path));
  if (realRoot === sep) return real;
  return real === realRoot || real.startsWith(realRoot + sep) ? real : undefined;
}

/** Resolves links in the part of a path that exists. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}
