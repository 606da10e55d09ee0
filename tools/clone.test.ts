import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, it } from "vitest";
import { eventually } from "../packages/testkit/src/index.ts";
import { isNewEnough } from "./clone/toolchain.mjs";

// A workspace with the real starter, a built program, and one source of each part.
const folder = mkdtempSync(join(tmpdir(), "shoal-clone-"));
const clone = join(folder, "clone");
afterAll(() => {
  rmSync(folder, { recursive: true });
});
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(clone, path)), { recursive: true });
  writeFileSync(join(clone, path), text);
};
for (const name of ["client", "contract", "schemas", "transport"]) write(`packages/${name}/src/index.ts`, "");
for (const name of ["cli", "server", "example-extension", "console", "docs"]) write(`apps/${name}/package.json`, "{}");
for (const path of ["docs/guide/README.md", "apps/server/README.md", "packages/contract/openapi.json"]) write(path, "");
write("tools/build.mjs", "");
write("tools/finish-dist/bundle-for-node.mjs", "");
write("apps/server/dist/pages/console/index.html", "");
write("apps/server/dist/pages/docs/index.html.br", "");
write("apps/cli/dist/commands/index.json", "{}");
write(
  "apps/cli/dist/shoal.js",
  `if (process.argv[2] === "fail") process.exitCode = 7;
   if (process.argv[2] === "serve") {
     const held = setInterval(() => {}, 1000);
     process.on("SIGTERM", () => { console.log("stopping"); clearInterval(held); });
   }
   console.log(JSON.stringify({ args: process.argv.slice(2), typed: process.env.SHOAL_COMMAND }));`,
);
for (const path of ["tools/start.mjs", "tools/clone", "shoal"])
  cpSync(join(import.meta.dirname, "..", path), join(clone, path), { recursive: true });
for (const file of ["package.json", "pnpm-lock.yaml", "pnpm-workspace.yaml"]) write(file, "{}");
write("node_modules/.modules.yaml", "{}");
write("node_modules/.pnpm-workspace-state-v1.json", "{}");
utimesSync(join(clone, "node_modules/.pnpm-workspace-state-v1.json"), new Date(), new Date(Date.now() + 60_000));

const built = (await import(
  pathToFileURL(join(clone, "tools/clone/built.mjs")).href
)) as typeof import("./clone/built.mjs");
const packages = (await import(
  pathToFileURL(join(clone, "tools/clone/packages.mjs")).href
)) as typeof import("./clone/packages.mjs");
built.recordBuild()();

it("builds only the parts whose sources or output changed", () => {
  expect(built.stale()).toEqual([]);
  write("packages/client/src/index.test.ts", "");
  write("packages/client/README.md", "");
  expect(built.stale()).toEqual([]);
  appendFileSync(join(clone, "apps/console/package.json"), " ");
  expect(built.stale()).toEqual(["console"]);
  appendFileSync(join(clone, "packages/client/src/index.ts"), " ");
  expect(built.stale()).toEqual(["programs", "console"]);
  built.recordBuild()();
  write("packages/client/src/added.ts", "");
  expect(built.stale()).toEqual(["programs", "console"]);
  rmSync(join(clone, "packages/client/src/added.ts"));
  expect(built.stale()).toEqual([]);
  // Another build wrote the output, perhaps from other sources.
  utimesSync(join(clone, "apps/cli/dist/commands/index.json"), new Date(0), new Date(0));
  expect(built.stale()).toEqual(["programs"]);
  rmSync(join(clone, "apps/cli/dist/commands/index.json"));
  expect(built.stale()).toEqual(["programs"]);
  write("apps/cli/dist/commands/index.json", "{}");
  built.recordBuild()();
  expect(built.stale()).toEqual([]);
  // The demo needs no console.
  appendFileSync(join(clone, "packages/client/src/index.ts"), " ");
  expect(built.stale(true)).toEqual(["programs"]);
  built.recordBuild(["programs"])();
  expect(built.stale()).toEqual(["console"]);
  built.recordBuild()();
  // An index of the documentation is a page; a part that could not be made is made again.
  appendFileSync(join(clone, "docs/guide/README.md"), " ");
  expect(built.stale()).toEqual(["docs"]);
  built.recordBuild()(["docs"]);
  expect(built.stale()).toEqual(["docs"]);
  built.recordBuild()();
  expect(built.stale()).toEqual([]);
});

const stateFile = "node_modules/.pnpm-workspace-state-v1.json";
const age = (path: string, ms: number) => {
  utimesSync(join(clone, path), new Date(), new Date(ms));
};

it("installs again after a change of the lockfile, and everything after an installation of a part", () => {
  expect(packages.isInstalled("service")).toBe(true);
  expect(packages.isInstalled("all")).toBe(true);
  write("packages/schemas/package.json", '{ "dependencies": { "zod": "1" } }');
  age("packages/schemas/package.json", 0);
  // Its dependencies have never been installed.
  expect(packages.isInstalled("service")).toBe(false);
  mkdirSync(join(clone, "packages/schemas/node_modules"));
  expect(packages.isInstalled("service")).toBe(true);
  age("pnpm-lock.yaml", Date.now() + 120_000);
  expect(packages.isInstalled("service")).toBe(false);
  age("pnpm-lock.yaml", 0);
  write(stateFile, JSON.stringify({ filteredInstall: true }));
  age(stateFile, Date.now() + 60_000);
  expect(packages.isInstalled("service")).toBe(false);
  write(stateFile, "{}");
  age(stateFile, Date.now() + 60_000);
});

it("installs a part from a smaller lockfile, and again when that lockfile or the workspace changes", async () => {
  const lockfile = (version: string) =>
    `lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    devDependencies:\n      vitest:\n        specifier: 1\n        version: 1\n\n` +
    `  packages/schemas:\n    dependencies:\n      zod:\n        specifier: 1\n        version: ${version}\n\npackages:\n\n  zod@${version}: {}\n`;
  const other = join(folder, "other");
  cpSync(clone, other, { recursive: true });
  for (const name of [".modules.yaml", ".pnpm-workspace-state-v1.json"]) rmSync(join(other, "node_modules", name));
  writeFileSync(join(other, "pnpm-lock.yaml"), lockfile("1.0.0"));
  // In the place of pnpm, a program that keeps its arguments.
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/pnpm"), `#!/bin/sh\nprintf '%s\\n' "$@" >"${folder}/arguments"\n`, { mode: 0o755 });
  const { install, isInstalled } = (await import(
    pathToFileURL(join(other, "tools/clone/packages.mjs")).href
  )) as typeof packages;
  const env = { PATH: `${join(folder, "bin")}:${process.env.PATH ?? ""}` };
  expect(isInstalled("demo")).toBe(false);
  expect(await install(env, "demo")).toBe(0);
  const written = readFileSync(join(other, "node_modules/.service/pnpm-lock.yaml"), "utf8");
  expect(written).toContain("  ../../packages/schemas:\n    dependencies:\n      zod:");
  expect(written).not.toContain("vitest");
  const names = readFileSync(join(folder, "arguments"), "utf8").split("\n");
  expect(names).toContain("--filter=./apps/cli");
  expect(names).not.toContain("--filter=./apps/console");
  expect([isInstalled("demo"), isInstalled("service"), isInstalled("all")]).toEqual([true, false, false]);
  expect(await install(env, "service")).toBe(0);
  expect([isInstalled("demo"), isInstalled("service"), isInstalled("all")]).toEqual([true, true, false]);
  writeFileSync(join(other, "pnpm-lock.yaml"), lockfile("1.0.1"));
  expect(isInstalled("demo")).toBe(false);
  expect(await install(env, "service")).toBe(0);
  expect(isInstalled("demo")).toBe(true);
  writeFileSync(join(other, "pnpm-workspace.yaml"), "allowBuilds: {}");
  expect(isInstalled("demo")).toBe(false);
  expect(await install(env, "all")).toBe(0);
  expect(existsSync(join(other, "node_modules/.service"))).toBe(false);
  expect(readFileSync(join(folder, "arguments"), "utf8")).not.toContain("--filter");
});

const run = (program: string, args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: "utf8" });
  return { status, stdout, stderr };
};

it("runs the command of the clone from any folder, and through a link", () => {
  built.recordBuild()();
  symlinkSync("clone/shoal", join(folder, "linked"));
  for (const typed of [join(clone, "shoal"), "clone/shoal", "./linked"])
    expect(run(typed, ["browsers", "list", "a b"])).toEqual({
      status: 0,
      stdout: `${JSON.stringify({ args: ["browsers", "list", "a b"], typed })}\n`,
      stderr: "",
    });
  expect(run(join(clone, "shoal"), ["fail"]).status).toBe(7);
});

it("waits until a stopped program has ended, if another Node runs it", async () => {
  // As on a machine with an older Node: the program is a separate process.
  const starter = `const { runToEnd } = await import(process.argv[1]);
    console.log("status", await runToEnd(process.execPath, [process.argv[2], "serve"]));`;
  const child = spawn(
    process.execPath,
    [
      "--input-type=module",
      "-e",
      starter,
      pathToFileURL(join(clone, "tools/clone/run-to-end.mjs")).href,
      join(clone, "apps/cli/dist/shoal.js"),
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  await eventually("the program runs", () => output.includes("serve"));
  child.kill("SIGTERM");
  await once(child, "close");
  expect(output).toMatch(/stopping\nstatus 0\n$/);
});

it("uses a Node of the machine from the version that packages state", () => {
  const { engines } = JSON.parse(readFileSync("package.json", "utf8")) as { engines: { node: string } };
  expect(engines.node).toBe(">=24.9");
  const versions = ["22.20.0", "24.8.0", "24.9.0", "24.15.0", "24.22.0", "25.0.0"];
  expect(versions.filter(isNewEnough)).toEqual(["24.9.0", "24.15.0", "24.22.0", "25.0.0"]);
  // They lose time limits: nodejs/node#65995.
  const faulty = ["24.16.0", "24.21.0"];
  expect(faulty.filter(isNewEnough)).toEqual(process.platform === "linux" ? [] : faulty);
});
