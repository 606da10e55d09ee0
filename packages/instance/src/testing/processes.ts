import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Empty once it has ended. Arguments are separated by NUL on Linux and by spaces elsewhere. */
export function commandLineOf(pid: number): string {
  try {
    return process.platform === "linux"
      ? readFileSync(`/proc/${String(pid)}/cmdline`, "utf8")
      : execFileSync("ps", ["-p", String(pid), "-o", "args="], { encoding: "utf8" });
  } catch {
    return "";
  }
}

export function processesWith(directory: string): number[] {
  return commandLines()
    .filter(({ pid, command }) => pid !== process.pid && command.includes(`${directory}/`))
    .map(({ pid }) => pid)
    .sort((a, b) => a - b);
}

function commandLines(): { pid: number; command: string }[] {
  if (process.platform !== "linux") {
    const lines = execFileSync("ps", ["-axo", "pid=,args="], { encoding: "utf8" }).trim().split("\n");
    return lines.map((line) => ({ pid: Number.parseInt(line), command: line }));
  }
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), command: commandLineOf(Number(name)) }));
}

export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }
}

export function killBrowser(sessionDirectory: string): void {
  // Child processes carry `--type=`, except just after they were forked.
  const main = processesWith(sessionDirectory).find((pid) => {
    const command = commandLineOf(pid);
    return command !== "" && !command.includes("--type=");
  });
  if (main === undefined) throw new Error("No browser runs.");
  process.kill(main, "SIGKILL");
}
