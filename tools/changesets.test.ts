import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";

const root = join(import.meta.dirname, "..");
const isManifest = (path: string): boolean => /^(?:packages|apps)\/[^/]+(?:\/package\.json)?$/.test(path);

it("turns the pending changesets into versions", () => {
  const copy = mkdtempSync(join(tmpdir(), "shoal-changesets-"));
  onTestFinished(() => {
    rmSync(copy, { recursive: true });
  });
  for (const file of [".changeset", "package.json", "pnpm-workspace.yaml", "tools/changelog.mjs"])
    cpSync(join(root, file), join(copy, file), { recursive: true });
  for (const folder of ["packages", "apps"])
    cpSync(join(root, folder), join(copy, folder), {
      recursive: true,
      filter: (path) => path === join(root, folder) || isManifest(path.slice(root.length + 1)),
    });
  // Duplicate packages of a changeset, unknown names and invalid YAML are errors.
  const program = join(root, "node_modules/@changesets/cli/bin.js");
  execFileSync(process.execPath, [program, "version"], { cwd: copy, encoding: "utf8", stdio: "pipe" });
  expect(readdirSync(join(copy, ".changeset")).toSorted()).toEqual(["README.md", "config.json"]);
});

it("describes the first release in at most a dozen changesets", () => {
  const files = readdirSync(join(root, ".changeset")).filter((name) => /^\d+-.*\.md$/.test(name));
  expect(files.length).toBeLessThanOrEqual(12);
});
