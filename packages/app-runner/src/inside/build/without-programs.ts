import { mkdtemp, rm, writeFile } from "node:fs/promises";
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

/** @param run - gets options of Node with which a package manager starts no program: neither git, nor scripts, nor programs of settings. */
export async function withoutPrograms(
  tool: "npm" | "pnpm",
  run: (options: readonly string[]) => Promise<unknown>,
): Promise<void> {
  if (tool === "npm") {
    await run(["--permission", "--allow-fs-read=*", "--allow-fs-write=*"]);
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), "shoal-pnpm-"));
  try {
    const path = join(folder, "without-programs.cjs");
    await writeFile(path, preload);
    await run(["--require", path]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Whether a package manager failed because of these options. */
export function wantedProgram(output: string): boolean {
  return output.includes(reason) || output.includes("--allow-child-process");
}
