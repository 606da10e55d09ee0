import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repository } from "../testing/guide-runs.ts";
import { reasons, typedBlocksOf, typedPages } from "../testing/typed-blocks.ts";

const blocks = typedPages.flatMap(typedBlocksOf);
const unrun = blocks.filter(({ reason }) => reason !== undefined);

it("each block has commands, and few blocks do not run", () => {
  expect(blocks.filter(({ commands }) => commands.length === 0)).toEqual([]);
  // A new block should run. Raise this number only if it cannot.
  expect(unrun.length).toBeLessThanOrEqual(37);
  expect(new Set(unrun.map(({ reason }) => reason))).toEqual(new Set(Object.keys(reasons)));
});

it("a block that does not run contains the commands that its reason is about", () => {
  expect(
    unrun.filter(
      ({ commands, reason }) => reason !== undefined && !commands.some((each) => reasons[reason].test(each)),
    ),
  ).toEqual([]);
});

describe("blocks for newcomers", () => {
  const script = readFileSync(join(repository, ".ci/newcomer"), "utf8").replaceAll(/\\"/g, '"');
  // The script has a clone and a key.
  const others = /^git clone |^export SHOAL_API_KEY=|^node first\.mjs$/;
  it.each(blocks.filter(({ reason }) => reason === "newcomer").map((block) => [block.title, block] as const))(
    "%s is typed by .ci/newcomer",
    (_title, { commands }) => {
      expect(commands.filter((command) => !others.test(command) && !script.includes(command))).toEqual([]);
    },
  );
});

const scripts = (JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as { scripts: object }).scripts;

it("commands of npm are scripts of the repository", () => {
  const named = blocks.flatMap(({ commands }) =>
    commands.flatMap((command) => /^npm run (\S+)/.exec(command)?.[1] ?? []),
  );
  expect(named).toContain("bench");
  expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});
