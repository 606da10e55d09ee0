import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const moduleName = "pty.node";

export function nativeTerminalFile(): string | undefined {
  const beside = join(dirname(fileURLToPath(import.meta.url)), moduleName);
  if (existsSync(beside)) return beside;
  // Windows needs more files than this one.
  if (process.platform === "win32") return undefined;
  try {
    return createRequire(import.meta.url).resolve(`@lydell/node-pty-${process.platform}-${process.arch}/${moduleName}`);
  } catch {
    return undefined;
  }
}

/** Executable files to copy next to the program, for boxes that contain nothing else. */
export function nativeFiles(): readonly string[] {
  const file = nativeTerminalFile();
  return file === undefined ? [] : [file, join(dirname(file), "spawn-helper")].filter((path) => existsSync(path));
}
