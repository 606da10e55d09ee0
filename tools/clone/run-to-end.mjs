import { spawn } from "node:child_process";
import { constants } from "node:os";

/**
 * Runs a program with this process's terminal until it ends, also after Ctrl-C: the program stops in its own time.
 * @param {string} program @param {readonly string[]} args @param {import("node:child_process").SpawnOptions} options
 * @returns {Promise<number>} its exit status; 128 plus the number of the signal that ended it
 */
export function runToEnd(program, args, options = {}) {
  const child = spawn(program, args, {
    shell: process.platform === "win32" && program !== process.execPath,
    stdio: "inherit",
    ...options,
  });
  // A terminal sends SIGINT to the program as well; another sender means this process only.
  process.on("SIGINT", () => {
    if (!process.stdin.isTTY) child.kill("SIGINT");
  });
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status, signal) => resolve(status ?? 128 + constants.signals[signal ?? "SIGTERM"]));
  });
}
