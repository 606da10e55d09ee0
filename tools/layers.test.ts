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
    "packages/high/package.json": JSON.stringify({
      name: "@shoal/high",
      dependencies: { "@shoal/low": "workspace:^" },
    }),
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
  const violations = findViolations(
    workspace({ "packages/low/src/a.ts": 'const x = 1;\nimport {\n  a,\n} from "@shoal/high";\n' }),
  );
  expect(violations).toHaveLength(1);
  expect(violations[0]).toMatch(
    /^packages\/low\/src\/a\.ts:4: @shoal\/low is layer 1 and must not import @shoal\/high, layer 2: /,
  );
});

it("lets only tests import a package with the tag layer-tests, which imports no other package", () => {
  const testkit = {
    "packages/kit/package.json": JSON.stringify({ name: "@shoal/kit", dependencies: { "@shoal/low": "workspace:^" } }),
    "packages/kit/turbo.json": JSON.stringify({ tags: ["layer-tests"] }),
    "packages/kit/src/index.ts": 'import "@shoal/low";\n',
    "packages/low/package.json": JSON.stringify({
      name: "@shoal/low",
      devDependencies: { "@shoal/kit": "workspace:^" },
    }),
  };
  const imports = 'import { eventually } from "@shoal/kit";\n';
  const violations = findViolations(
    workspace({
      ...testkit,
      ...Object.fromEntries(
        ["a.ts", "a.test.ts", "a.slow.ts", "testing/a.ts"].map((file) => [`packages/low/src/${file}`, imports]),
      ),
    }),
  );
  expect(violations).toEqual([
    expect.stringMatching(/^packages\/kit\/src\/index\.ts:1: .*must not import @shoal\/low/) as string,
    "packages/low/src/a.ts:1: @shoal/kit is for tests: import it in *.test.ts, *.slow.ts or testing/",
  ]);
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

it("requires an imported package in package.json", () => {
  const violations = findViolations(
    workspace({
      "packages/high/package.json": JSON.stringify({ name: "@shoal/high" }),
      "packages/high/src/a.ts": 'import { a } from "@shoal/low";\n',
    }),
  );
  expect(violations).toEqual([
    "packages/high/src/a.ts:1: @shoal/low is not among the dependencies: add it to packages/high/package.json",
  ]);
});

it("requires a layer", () => {
  expect(findViolations(workspace({ "packages/high/turbo.json": "{}" }))[0]).toMatch(
    /^packages\/high\/turbo\.json:1: @shoal\/high has no layer/,
  );
});

/** An entry of `folders.json` for each folder, with what it may import. */
function listed(allowed: Record<string, string[]>): Record<string, { content: string; imports: string[] }> {
  return Object.fromEntries(
    Object.entries(allowed).map(([folder, imports]) => [folder, { content: "Some text.", imports }]),
  );
}

/** A package `low` with an allow-list for the folders of its source, and the given files. */
function folders(allowed: Record<string, string[]>, files: Record<string, string>): string[] {
  return findViolations(
    workspace({
      "packages/low/folders.json": JSON.stringify(listed(allowed), undefined, 2),
      ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`packages/low/src/${path}`, text])),
    }),
  );
}

it("lets a folder import the folders on its list, and tests import anything", () => {
  expect(
    folders(
      { ".": ["http", "storage"], http: ["storage"], storage: [] },
      {
        "index.ts": 'import "./http/a.ts";\n',
        "http/a.ts": 'import "../storage/b.ts";\n',
        "storage/b.ts": "export {};\n",
        "storage/b.test.ts": 'import "../http/a.ts";\n',
        "storage/testing/c.ts": 'import "../../http/a.ts";\n',
      },
    ),
  ).toEqual([]);
});

it("names the line of an import that the list of its folder does not allow", () => {
  const allowed = { ".": [], http: ["storage"], storage: [] };
  const files = { "http/a.ts": "export {};\n", "storage/b.ts": '\nimport "../http/a.ts";\n' };
  expect(folders(allowed, files)).toEqual([
    "packages/low/src/storage/b.ts:2: storage must not import http: move the code, or allow it in packages/low/folders.json",
  ]);
});

it("treats a nested folder with its own entry as a folder", () => {
  const files = { "areas/keys/a.ts": 'import "../proxies/b.ts";\n', "areas/proxies/b.ts": "export {};\n" };
  expect(folders({ ".": [], areas: [] }, files)).toEqual([]);
  expect(folders({ ".": [], "areas/keys": [], "areas/proxies": [] }, files)).toEqual([
    expect.stringMatching(/^packages\/low\/src\/areas\/keys\/a\.ts:1: areas\/keys must not import areas\/proxies: /),
  ]);
});

it("rejects lists that form a circle, folders without an entry and entries without files", () => {
  const files = { "a/a.ts": "export {};\n", "b/b.ts": "export {};\n", "c/c.ts": "export {};\n" };
  expect(folders({ ".": [], a: ["b"], b: ["a"], d: [] }, files).map((line) => line.replace(/^[^ ]+ /, ""))).toEqual([
    "d has no files: remove the entry",
    "a → b → a is a circle: remove one of these entries",
    "packages/low/folders.json has no entry for this folder: add one with what it may import",
  ]);
});

it("rejects files that import each other in a circle", () => {
  const files = { "a.ts": 'import "./b.ts";\n', "b.ts": 'import "./c.ts";\n', "c.ts": 'import "./a.ts";\n' };
  expect(folders({ ".": [] }, files)).toEqual([
    "packages/low/src/a.ts:1: circular import, a.ts → b.ts → c.ts → a.ts: move the shared code into a separate file",
  ]);
});

it("requires a line about the content of each folder", () => {
  const files = {
    "packages/low/folders.json": JSON.stringify({ ".": { imports: [] }, area: { imports: [] } }, undefined, 2),
    "packages/low/src/area/a.ts": "",
  };
  expect(findViolations(workspace(files))).toEqual([
    'packages/low/folders.json:5: area has no "content": write one line about it',
  ]);
});

it("requires folders for more than fifteen files side by side", () => {
  const files = Object.fromEntries(
    Array.from({ length: 16 }, (_, index) => [`packages/low/src/f${index}.ts`, "export {};\n"]),
  );
  expect(findViolations(workspace(files))).toEqual([
    "packages/low/folders.json:1: missing, and packages/low/src has 16 files side by side (limit 15): move them into folders and list these with what each may import",
  ]);
});

it("finds folders side by side that import each other, also below the entries of folders.json", () => {
  const violations = findViolations(
    workspace({
      "packages/low/folders.json": JSON.stringify(listed({ area: [] })),
      "packages/low/src/area/first/a.ts": 'import { c } from "../second/deep/c.ts";\n',
      "packages/low/src/area/first/b.ts": "",
      "packages/low/src/area/second/deep/c.ts": "",
      "packages/low/src/area/second/d.ts": '\nimport { b } from "../first/b.ts";\n',
    }),
  );
  expect(violations).toEqual([
    "packages/low/src/area/first/a.ts:1: area/first → area/second → area/first is a knot of folders: " +
      "packages/low/src/area/first/a.ts:1, packages/low/src/area/second/d.ts:2; move what one of these imports",
  ]);
});

it("lets a folder and the folders inside it import each other", () => {
  const files = {
    "packages/low/src/area/a.ts": 'import { b } from "./inner/b.ts";\n',
    "packages/low/src/area/c.ts": "",
    "packages/low/src/area/inner/b.ts": 'import { c } from "../c.ts";\n',
  };
  expect(findViolations(workspace(files))).toEqual([]);
});

it("keeps folders next to a kit apart", () => {
  const files = {
    "packages/low/folders.json": JSON.stringify(
      listed({
        ".": [],
        "ways/kit": [],
        "ways/one": ["ways/kit"],
        "ways/two": ["ways/kit", "ways/one"],
      }),
    ),
    "packages/low/src/ways/kit/kit.ts": "export const kit = 1;\n",
    "packages/low/src/ways/one/one.ts": 'import { kit } from "../kit/kit.ts";\nexport const one = kit;\n',
    "packages/low/src/ways/two/two.ts": 'import { one } from "../one/one.ts";\nexport const two = one;\n',
  };
  expect(findViolations(workspace(files))).toEqual([
    "packages/low/folders.json:1: ways/two must not import ways/one: move what both need to ways/kit",
  ]);
});
