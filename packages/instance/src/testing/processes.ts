import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** What a process was started with; empty once it has ended. Arguments end with NUL on Linux, and stand with spaces between them elsewhere. */
export function commandLineOf(pid: number): string {
  try {
    return process.platform === "linux"
      ? readFileSync(`/proc/${String(pid)}/cmdline`, "utf8")
      : execFileSync("ps", ["-p", String(pid), "-o", "args="], { encoding: "utf8" });
  } catch {
    return "";
  }
}

/** Processes whose command line names a directory, by their ids. */
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

/** Kills what still runs of them: some go with others. */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }
}

/** Kills the browser of an instance, whose own processes then end. @throws {Error} when none runs. */
export function killBrowser(sessionDirectory: string): void {
  // Its children carry `--type=`, but not in the moment after they were forked.
  const main = processesWith(sessionDirectory).find((pid) => {
    const command = commandLineOf(pid);
    return command !== "" && !command.includes("--type=");
  });
  if (main === undefined) throw new Error("No browser runs.");
  process.kill(main, "SIGKILL");
}
