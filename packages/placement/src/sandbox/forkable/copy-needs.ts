import { createHash } from "node:crypto";
import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { release } from "node:os";
import { promisify } from "node:util";
import type { CopyNeeds } from "../../interface/placement.ts";

const run = promisify(execFile);
const versionMs = 15_000;

interface KnownVersion {
  readonly file: string;
  readonly version: Promise<string>;
}
/** By the path of the browser. */
const versions = new Map<string, KnownVersion>();

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
  const [chromium, cpu] = await Promise.all([versionOf(executable), readFile("/proc/cpuinfo", "utf8")]);
  return {
    placement: "sandbox",
    architecture: process.arch,
    kernel: release(),
    cpu: cpuFeatures(cpu),
    chromium,
    program: `${program} ${process.version}`,
  };
}

/** Runs the browser once for each file: an upgrade replaces it. */
async function versionOf(executable: string): Promise<string> {
  const { ino, mtimeMs, size } = await stat(executable);
  const file = [ino, mtimeMs, size].join(" ");
  const known = versions.get(executable);
  if (known?.file === file) return known.version;
  const version = run(executable, ["--version"], { timeout: versionMs, killSignal: "SIGKILL" }).then(({ stdout }) =>
    stdout.trim(),
  );
  const running = { file, version };
  versions.set(executable, running);
  version.catch(() => {
    if (versions.get(executable) === running) versions.delete(executable);
  });
  return version;
}

/** A short name for the set of features. */
export function cpuFeatures(cpuinfo: string): string {
  const line = /^(?:flags|Features)\s*:(.*)$/m.exec(cpuinfo)?.[1] ?? "";
  const sorted = [...new Set(line.trim().split(/\s+/))].sort().join(" ");
  return createHash("sha256").update(sorted).digest("hex").slice(0, 16);
}
