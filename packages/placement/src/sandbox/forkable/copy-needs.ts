import { createHash } from "node:crypto";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { release } from "node:os";
import { promisify } from "node:util";
import type { CopyNeeds } from "../../interface/placement.ts";

const run = promisify(execFile);

/** What a stored process expects of its machine: CRIU restores mapped files and registers, and checks only a part of it. */
export async function copyNeedsOf({
  executable,
  program,
}: {
  /** Of the browser. */
  readonly executable: string;
  /** Hash of the instance program. */
  readonly program: string;
}): Promise<CopyNeeds> {
  const [{ stdout: chromium }, cpu] = await Promise.all([
    run(executable, ["--version"]),
    readFile("/proc/cpuinfo", "utf8"),
  ]);
  return {
    placement: "sandbox",
    architecture: process.arch,
    kernel: release(),
    cpu: cpuFeatures(cpu),
    chromium: chromium.trim(),
    program: `${program} ${process.version}`,
  };
}

/** A short name for the set of features. */
export function cpuFeatures(cpuinfo: string): string {
  const line = /^(?:flags|Features)\s*:(.*)$/m.exec(cpuinfo)?.[1] ?? "";
  const sorted = [...new Set(line.trim().split(/\s+/))].sort().join(" ");
  return createHash("sha256").update(sorted).digest("hex").slice(0, 16);
}
