import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { wantedProgram, withoutPrograms } from "./without-programs.ts";

const run = promisify(execFile);

it.each([
  ["npm", "require('child_process').execFileSync('git')"],
  ["npm", "require('child_process').spawn('git')"],
  ["pnpm", "require('child_process').execFileSync('git')"],
  ["pnpm", "require('child_process').spawn('git')"],
  ["pnpm", "new (require('child_process').ChildProcess)().spawn({ file: 'git', args: [] })"],
  ["pnpm", "import('node:child_process').then(({ spawnSync }) => spawnSync('git'))"],
  ["pnpm", "new (require('worker_threads').Worker)(\"require('child_process').execSync('git')\", { eval: true })"],
] as const)("lets code of %s start no program: %s", async (tool, code) => {
  let last = "";
  const failure = withoutPrograms(tool, (options) => {
    last = options.at(-1) ?? "";
    return run(process.execPath, [...options, "-e", code]);
  });
  const error: unknown = await failure.catch((reason: unknown) => reason);
  expect(wantedProgram(String(error))).toBe(true);
  if (tool === "pnpm") expect(existsSync(dirname(last)), "the folder of the file").toBe(false);
});
