import { nameProblem, pathProblem } from "@shoal/contract/refusals";
import { badInput, ServiceError } from "@shoal/router";
import { posix } from "node:path";

/** Removes `.`, `..` and repeated slashes. `field`: for errors. @throws {ServiceError} 400 for a relative path. */
export function normalisePath(path: string, field: string): string {
  const problem = pathProblem(field, path);
  if (problem !== undefined) throw ServiceError.of(problem);
  const normal = posix.normalize(path);
  const trimmed = normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
  for (const name of segmentsOf(trimmed)) {
    const tooLong = nameProblem(name);
    if (tooLong !== undefined) throw badInput(field, tooLong);
  }
  return trimmed;
}

export function segmentsOf(path: string): string[] {
  return path === "/" ? [] : path.slice(1).split("/");
}

export function below(path: string, ...names: readonly string[]): string {
  return names.reduce((above, name) => (above === "/" ? `/${name}` : `${above}/${name}`), path);
}

export function isWithin(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(outer === "/" ? "/" : `${outer}/`);
}

/** The last name of a path; `/` for the root. */
export function baseName(path: string): string {
  return path === "/" ? "/" : path.slice(path.lastIndexOf("/") + 1);
}
