import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const moduleName = "pty.node";

/** The native module that makes terminals: beside the program where it was copied with it, else in the package of this system; `undefined` where there is none. */
export function nativeTerminalFile(): string | undefined {
  const beside = join(dirname(fileURLToPath(import.meta.url)), moduleName);
  if (existsSync(beside)) return beside;
  // Windows needs more than a module.
  if (process.platform === "win32") return undefined;
  try {
    return createRequire(import.meta.url).resolve(`@lydell/node-pty-${process.platform}-${process.arch}/${moduleName}`);
  } catch {
    return undefined;
  }
}

/** Files that have to lie beside the program, so that it finds them in a box where there is nothing else; each may be run. */
export function nativeFiles(): readonly string[] {
  const file = nativeTerminalFile();
  return file === undefined ? [] : [file, join(dirname(file), "spawn-helper")].filter((path) => existsSync(path));
}
