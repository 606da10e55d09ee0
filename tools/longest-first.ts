import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Seconds on two processors of slow test files, which `node tools/slow-tests.ts --record` writes, and of the longest fast
 * ones.
 */
export const fileSeconds = JSON.parse(
  readFileSync(new URL("slow-tests/seconds.json", import.meta.url), "utf8"),
) as Readonly<Record<string, number>>;

const usualSeconds = { slow: 15, fast: 1 };

/** Path from the root of the repository. */
export const fileOf = ({ moduleId, project }: TestSpecification): string =>
  relative(project.vitest.config.root, moduleId);

/** Seconds that a file probably takes. */
export const secondsOf = (file: string): number =>
  fileSeconds[file] ?? usualSeconds[file.endsWith(".test.ts") ? "fast" : "slow"];

/** Starts long files first, so that none runs alone at the end. Sorts the others as Vitest does. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    return (await super.sort(files)).sort(
      (a, b) => groupOf(a) - groupOf(b) || secondsOf(fileOf(b)) - secondsOf(fileOf(a)),
    );
  }
}
