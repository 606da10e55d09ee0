import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { shoal } from "../../testing/shoal.ts";
import { noScript, onTerminal } from "../../testing/terminal.ts";

const folder = mkdtempSync(join(tmpdir(), "shoal-init-"));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe("init", () => {
  it.each([
    ["typescript", "index.ts", [".gitignore", ".npmrc", "index.ts", "package.json", "tsconfig.json"]],
    ["javascript", "index.js", [".gitignore", ".npmrc", "index.js", "package.json"]],
    ["python", "main.py", [".gitignore", "main.py", "pyproject.toml"]],
  ])("writes an app in %s and prints the next steps", async (template, entry, files) => {
    const path = join(folder, template);
    const { status, stdout, stderr } = await shoal(["init", path, "--template", template]);
    expect(status).toBe(0);
    expect(readdirSync(path).toSorted()).toEqual(files);
    expect(stdout.trim().split("\n").toSorted()).toEqual(files.map((file) => join(path, file)));
    expect(stderr).toContain(`Created the app ${template}. Next:\n`);
    const here = relative(process.cwd(), path);
    expect(stderr).toContain(`  (cd ${here} && `);
    expect(stderr).toContain(`  shoal deploy ${join(here, entry)}\n  shoal invoke ${template} greet`);
    expect(readFileSync(join(path, entry), "utf8")).toContain(`pp("${template}")`);
  });

  it("gets the SDK from the chosen service", async () => {
    const path = join(folder, "elsewhere");
    await shoal(["init", path, "--template", "typescript", "--base-url", "https://shoal.example/api/"]);
    expect(readFileSync(join(path, ".npmrc"), "utf8")).toContain("@shoal:registry=https://shoal.example/api/npm/\n");
  });

  it("never overwrites a file", async () => {
    const path = mkdtempSync(join(folder, "full-"));
    writeFileSync(join(path, "index.js"), "mine");
    expect(await shoal(["init", path, "--name", "shop", "--template", "javascript"])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("already contains index.js. Nothing was written.") as unknown,
    });
    expect(readdirSync(path)).toEqual(["index.js"]);
    expect(readFileSync(join(path, "index.js"), "utf8")).toBe("mine");
  });

  it("names missing and invalid values", async () => {
    const problems = [
      [["init"], "<folder> is missing"],
      [["init", join(folder, "new")], "--template is missing: typescript, javascript, python."],
      [["init", join(folder, "new"), "--template", "cobol"], "--template takes one of"],
      [["init", join(folder, "new"), "--template", "python", "--name", "A B"], '--name "A B" is invalid.'],
    ] as const;
    for (const [args, problem] of problems)
      expect(await shoal(args)).toMatchObject({ status: 2, stderr: expect.stringContaining(problem) as unknown });
  });
});

const withoutScript = noScript();
describe.skipIf(withoutScript)(
  `init on a terminal${withoutScript === undefined ? "" : ` (skipped: ${withoutScript})`}`,
  () => {
    it("prompts for the template", async () => {
      const path = join(folder, "asked");
      const run = onTerminal(["init", path, "--no-color"]);
      await expect.poll(() => run.screen()).toContain("JavaScript");
      run.type("\u001b[B");
      run.type("\r");
      expect(await run.status).toBe(0);
      expect(readdirSync(path).toSorted()).toEqual([".gitignore", ".npmrc", "index.js", "package.json"]);
    });
  },
);
