import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { repository, useGuidePrograms } from "../testing/guide-runs.ts";

const run = promisify(execFile);
const guide = useGuidePrograms();

it("the programs of the guide and the READMEs compile with the types of the packages", async () => {
  const tsc = join(repository, "node_modules/typescript-7/bin/tsc");
  const said = await run(process.execPath, [tsc, "-p", guide.folder], { cwd: guide.folder }).then(
    ({ stdout }) => stdout,
    // It exits with another status if it reports problems.
    (error: unknown) => (error as { stdout?: string }).stdout ?? String(error),
  );
  // Ignore messages about the packages themselves.
  expect(said.split("\n").filter((line) => /^(?!\.\.|\s|$)/.test(line))).toEqual([]);
});
