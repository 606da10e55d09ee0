import { expect, it } from "vitest";
import { planInstall } from "./manifests.ts";

const plan = (manifest: object, more: Readonly<Record<string, string>> = {}) =>
  planInstall(
    "main.ts",
    new Map(
      Object.entries({ "package.json": JSON.stringify(manifest), "package-lock.json": "{}", ...more }).map(
        ([name, text]) => [name, Buffer.from(text)],
      ),
    ),
    "",
  );

it.each([
  { dependencies: { a: "^1.2.3", b: "latest", c: "~1 || >=2 <3", d: "", "@scope/e": "*" } },
  { dependencies: { a: "npm:@scope/other@^1", b: "jsr:^1", c: "catalog:" } },
  { dependencies: { a: "1" }, overrides: { a: { ".": "1.0.0", "@scope/b": "$a" } } },
])("keeps the dependencies of %j for later builds", (manifest) => {
  expect(plan(manifest).dependencyHash).toMatch(/^[0-9a-f]{64}$/);
});

it.each([
  { workspaces: ["packages/*"], dependencies: { "@me/lib": "*" } },
  { dependencies: { a: "./vendor/a" } },
  { dependencies: { a: "vendor/a-1.0.0.tgz" } },
  { dependencies: { a: "a-1.0.0.tgz" } },
  { devDependencies: { a: "file:vendor/a" } },
  { dependencies: { a: "1" }, overrides: { b: { c: "../c" } } },
  { dependencies: { a: "1" }, pnpm: { overrides: { b: "link:../b" } } },
])("installs the dependencies of %j in each build", (manifest) => {
  expect(plan(manifest)).toMatchObject({ install: "npm", locked: true });
  expect(plan(manifest)).not.toHaveProperty("dependencyHash");
});

it.each([
  { workspace: 'packages:\n  - "packages/*"\n', isKept: false },
  { workspace: 'overrides:\n  a: "./vendor/a"\n', isKept: false },
  { workspace: "onlyBuiltDependencies:\n  - esbuild\n", isKept: true },
])("respects pnpm-workspace.yaml: $workspace", ({ workspace, isKept }) => {
  const { dependencyHash } = plan({ dependencies: { a: "1" } }, { "pnpm-workspace.yaml": workspace });
  expect(dependencyHash !== undefined).toBe(isKept);
});

it("reads a package.json with a byte order mark", () => {
  const manifests = new Map([["package.json", Buffer.from('\uFEFF{"dependencies":{"a":"1"}}')]]);
  expect(planInstall("main.ts", manifests, "")).toMatchObject({ language: "node", install: "npm" });
});
