import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";

const root = join(import.meta.dirname, "..");

/** Runs Vitest in a folder with one file, which skips a test that the list of clients names. */
async function runVitest(...args: string[]): Promise<{ readonly status: unknown; readonly last: string | undefined }> {
  const folder = mkdtempSync(join(tmpdir(), "shoal-closing-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const file = join(folder, "apps/e2e/src/automation/connect.slow.ts");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    'it.skip("Puppeteer connects by browserURL", () => {}); it.skip("another", () => {}); it("works", () => {});',
  );
  const config = {
    test: { globals: true, include: ["**/*.slow.ts"], reporters: [join(root, "tools/closing-line.ts")] },
  };
  writeFileSync(join(folder, "vitest.config.mjs"), `export default ${JSON.stringify(config)};`);
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(root, "node_modules/vitest/vitest.mjs"), "run", ...args],
      { cwd: folder, env: { ...process.env, SHOAL_REQUIRE_ALL: "1" } },
      (error, stdout) => {
        resolve({ status: error?.code ?? 0, last: stdout.trimEnd().split("\n").at(-1) });
      },
    );
  });
}

it("fails a run that skips a named test of a client, and counts the test once", async () => {
  expect(await runVitest()).toEqual({ status: 1, last: "1 passed, 1 failed, 1 skipped" });
});

it("accepts a run of the tests with a name", async () => {
  expect(await runVitest("-t", "works")).toEqual({ status: 0, last: "1 passed, 0 failed, 2 skipped" });
});
