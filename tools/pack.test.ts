import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { inOrder, publishedPackages, tarballOf } from "./pack.mjs";

const root = join(import.meta.dirname, "..");
const packages = publishedPackages(root);

it("packs published packages and skips private ones", () => {
  expect([...packages.keys()].sort()).toEqual(
    [
      "app-runner",
      "cli",
      "client",
      "contract",
      "database",
      "instance",
      "login",
      "mcp",
      "placement",
      "primitives",
      "router",
      "schemas",
      "server",
      "testing",
      "transport",
    ].map((name) => `@shoal/${name}`),
  );
});

it("orders packages after their dependencies, limited to the given names", () => {
  expect(inOrder(packages, ["client"])).toEqual([
    "@shoal/schemas",
    "@shoal/contract",
    "@shoal/transport",
    "@shoal/client",
  ]);
  // The command does not depend on the service.
  expect(inOrder(packages, ["cli"])).toEqual(["@shoal/cli"]);
  const all = inOrder(packages);
  expect([...all].sort()).toEqual([...packages.keys()].sort());
  for (const [index, name] of all.entries())
    expect(all.slice(0, index)).toEqual(expect.arrayContaining(packages.get(name)?.needs ?? []));
  expect(() => inOrder(packages, ["sdk"])).toThrow('Unknown package "sdk". The packages are');
});

it("checks its arguments without packing", () => {
  const checked = spawnSync(process.execPath, [join(root, "tools/pack.mjs"), "/nonexistent/folder", "--check"]);
  expect([checked.status, existsSync("/nonexistent")]).toEqual([0, false]);
});

it("names a tarball without its version, so that a command that was typed once can be typed again", () => {
  expect(tarballOf("@shoal/client")).toBe("shoal-client.tgz");
});

it("reports missing arguments", () => {
  const packed = (...args: string[]) =>
    spawnSync(process.execPath, [join(root, "tools/pack.mjs"), ...args], { encoding: "utf8" });
  expect(packed()).toMatchObject({
    status: 2,
    stdout: "",
    stderr: expect.stringContaining("npm run pack -- ../shoal-packages") as string,
  });
  expect(packed("/nonexistent/folder", "sdk")).toMatchObject({
    status: 2,
    stdout: "",
    stderr: expect.stringContaining("Unknown package") as string,
  });
});

it("is in the pages for newcomers with the version that this checkout has", () => {
  const { version } = JSON.parse(readFileSync(join(root, "apps/server/package.json"), "utf8")) as { version: string };
  for (const page of ["README.md", "docs/guide/install.md"]) {
    const printed = [...readFileSync(join(root, page), "utf8").matchAll(/^Shoal (\S+) answers at/gm)].map(
      ([, shown]) => shown,
    );
    expect(printed, page).toEqual([version]);
  }
});
