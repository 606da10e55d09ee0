import { posix } from "node:path";
import { invalidInput } from "./errors.ts";

const maxPathLength = 4096;

/**
 * Normalises a path: `.`, `..` and repeated slashes go.
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
  for (const name of segmentsOf(trimmed))
    if (Buffer.byteLength(name) > 255) throw invalidInput(field, `the name ${name.slice(0, 40)}… is longer than 255 bytes`);
  return trimmed;
}

/** Names of a normalised path. */
export function segmentsOf(path: string): string[] {
  return path === "/" ? [] : path.slice(1).split("/");
}

/** A path with further names below it. */
export function below(path: string, ...names: readonly string[]): string {
  return names.reduce((above, name) => (above === "/" ? `/${name}` : `${above}/${name}`), path);
}

/** Whether `inner` is `outer` or lies below it. */
export function isWithin(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(outer === "/" ? "/" : `${outer}/`);
}

/** The last name of a path; `/` of the root. */
export function baseName(path: string): string {
  return path === "/" ? "/" : path.slice(path.lastIndexOf("/") + 1);
}
