import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const reason = "Installations start no programs";

/** Loaded before pnpm, whose own calls Node's permission model would refuse. Workers load it too. */
const preload = `
const programs = require("node:child_process");
const refuse = () => { throw new Error(${JSON.stringify(reason)}); };
programs.ChildProcess.prototype.spawn = refuse;
for (const name of ["exec", "execFile", "execFileSync", "execSync", "fork", "spawn", "spawnSync"]) programs[name] = refuse;
require("node:module").syncBuiltinESMExports();
`;

/** Options of Node with which a package manager starts no program: neither git, nor scripts, nor programs of settings. */
export async function withoutPrograms(tool: "npm" | "pnpm"): Promise<readonly string[]> {
  if (tool === "npm") return ["--permission", "--allow-fs-read=*", "--allow-fs-write=*"];
  const path = join(await mkdtemp(join(tmpdir(), "shoal-pnpm-")), "without-programs.cjs");
  await writeFile(path, preload);
  return ["--require", path];
}

/** Whether a package manager failed because of these options. */
export function wantedProgram(output: string): boolean {
  return output.includes(reason) || output.includes("--allow-child-process");
}
