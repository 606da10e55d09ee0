import { createHash } from "node:crypto";

const hourMs = 60 * 60 * 1_000;
/**
 * Part of the ring that the start moves each hour. With it, six runs of a third of the files reach all of them, if the runs
 * are 1, 2, 3, 4, 5, 6, 8, 12, 24, 48, 72 or 168 hours apart: the best of 1,000 tried values.
 */
const stepPerHour = 0.716;

/** The seed of this hour. */
export const currentSeed = (): number => Math.floor(Date.now() / hourMs);

/**
 * Orders slow files: those near to a change first. Others, and those at the same distance, follow in a fixed ring that starts
 * at a place given by the seed, so that runs at different hours continue where others stopped.
 */
export function orderFiles(files: readonly string[], distances: ReadonlyMap<string, number>, seed: number): string[] {
  const ring = files.toSorted((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1));
  const start = Math.floor(((seed * stepPerHour) % 1) * ring.length);
  const rotated = [...ring.slice(start), ...ring.slice(0, start)];
  const distanceOf = (file: string) => distances.get(file) ?? Number.POSITIVE_INFINITY;
  return rotated.toSorted((a, b) => (distanceOf(a) === distanceOf(b) ? 0 : distanceOf(a) - distanceOf(b)));
}

const hashOf = (file: string) => createHash("sha256").update(file).digest("hex");
