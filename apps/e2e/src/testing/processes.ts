import { readdirSync, readFileSync } from "node:fs";

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** Every live process, without zombies. Linux only. */
export function allProcesses(): ProcessEntry[] {
  return readdirSync("/proc").flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    try {
      const [state, parent] = readFileSync(`/proc/${entry}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ");
      if (state === "Z" || state === "X") return [];
      return [
        {
          pid: Number(entry),
          parent: Number(parent),
          command: readFileSync(`/proc/${entry}/cmdline`, "utf8").replaceAll("\0", " ").trim(),
        },
      ];
    } catch {
      return []; // It has ended meanwhile.
    }
  });
}

export function descendantsOf(pid: number, processes: readonly ProcessEntry[] = allProcesses()): ProcessEntry[] {
  return processes
    .filter(({ parent }) => parent === pid)
    .flatMap((child) => [child, ...descendantsOf(child.pid, processes)]);
}

/** Which of these are still alive, by process id and command, since ids are reused. */
export function survivors(processes: readonly ProcessEntry[]): ProcessEntry[] {
  const alive = new Map(allProcesses().map((process) => [process.pid, process.command]));
  return processes.filter(({ pid, command }) => alive.get(pid) === command);
}

/** Kills the processes that still run: some end with others. */
export function killAll(processes: readonly Pick<ProcessEntry, "pid">[]): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
    }
  }
}

/** Without freshly forked children that still have their parent's command. */
export function chromiums(processes: readonly ProcessEntry[]): ProcessEntry[] {
  const candidates = processes.filter(
    ({ command }) => /^\S*(chrom|headless)\S* .*--remote-debugging/.test(command) && !command.includes("--type="),
  );
  return candidates.filter(({ parent }) => candidates.every(({ pid }) => pid !== parent));
}

export function instances(processes: readonly ProcessEntry[]): ProcessEntry[] {
  return processes.filter(({ command }) =>
    /^(?:\S*loader )?\S*node (?:--\S+ )*\S*\/program[\w-]*\/\S+\.[cm]?js (?!--)/.test(command),
  );
}
