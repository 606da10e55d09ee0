import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { findViolations } from "./layers.mjs";

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

/** A workspace of two packages, `low` (layer 1) and `high` (layer 2), with the given sources. */
function workspace(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), "shoal-layers-"));
  roots.push(root);
  const all = {
    "packages/low/package.json": JSON.stringify({ name: "@shoal/low", dependencies: { "@shoal/high": "workspace:^" } }),
    "packages/low/turbo.json": JSON.stringify({ tags: ["layer-1"] }),
    "packages/high/package.json": JSON.stringify({ name: "@shoal/high", dependencies: { "@shoal/low": "workspace:^" } }),
    "packages/high/turbo.json": JSON.stringify({ tags: ["layer-2"] }),
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

it("lets an import point down", () => {
  expect(findViolations(workspace({ "packages/high/src/a.ts": 'import { a } from "@shoal/low";\n' }))).toEqual([]);
});

it("names the line of an import that points up", () => {
  const violations = findViolations(workspace({ "packages/low/src/a.ts": 'const x = 1;\nimport {\n  a,\n} from "@shoal/high";\n' }));
  expect(violations).toHaveLength(1);
  expect(violations[0]).toMatch(/^packages\/low\/src\/a\.ts:4: @shoal\/low is layer 1 and must not import @shoal\/high, layer 2: /);
});

it("sees dynamic imports, re-exports, and imports that leave the package", () => {
  const violations = findViolations(
    workspace({
      "packages/low/src/a.ts": 'await import("@shoal/high");\nexport { b } from "@shoal/high/b";\n',
      "packages/high/src/a.ts": 'import "../../low/src/a.ts";\n',
    }),
  );
  expect(violations.map((violation) => violation.split(":").slice(0, 2).join(":"))).toEqual([
    "packages/high/src/a.ts:1",
    "packages/low/src/a.ts:1",
    "packages/low/src/a.ts:2",
  ]);
});

it("asks for the dependency to be named", () => {
  const violations = findViolations(
    workspace({
      "packages/high/package.json": JSON.stringify({ name: "@shoal/high" }),
      "packages/high/src/a.ts": 'import { a } from "@shoal/low";\n',
    }),
  );
  expect(violations).toEqual(["packages/high/src/a.ts:1: @shoal/low is not among the dependencies: add it to packages/high/package.json"]);
});

it("asks for a layer", () => {
  expect(findViolations(workspace({ "packages/high/turbo.json": "{}" }))[0]).toMatch(/^packages\/high\/turbo\.json:1: @shoal\/high has no layer/);
});
