import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

interface Fault {
  readonly name: string;
  readonly file: string;
  readonly old: string;
}

const root = join(import.meta.dirname, "..");
const faults = readFileSync(join(root, "tools/mutations/faults.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Fault);

it.each(faults)("finds the code that the fault $name changes, once", ({ file, old }) => {
  expect(readFileSync(join(root, file), "utf8").split(old)).toHaveLength(2);
});
