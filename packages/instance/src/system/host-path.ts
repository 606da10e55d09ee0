import { realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";

/** Linux's limit. Longer paths would still be resolved level by level. */
const maxPathBytes = 4096;

/** Resolves an API path; `undefined` if it is relative, too long, or outside the root, also through symbolic links. */
export function hostPath(root: string, path: string): string | undefined {
  if (!path.startsWith("/") || path.includes("\0") || Buffer.byteLength(path) > maxPathBytes) return undefined;
  const realRoot = realpathSync(root);
  const real = realPathOf(join(realRoot, path));
  if (realRoot === sep) return real;
  return real === realRoot || real.startsWith(realRoot + sep) ? real : undefined;
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}
