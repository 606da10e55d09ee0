import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { InstanceConfig } from "../protocol.ts";
import { processGroupsFile } from "./process-groups-file.ts";

/**
 * Notes each process where whoever ends the session can find it, also when this instance was killed. In a box there is no need: it goes with all that is in it.
 *
 * @returns takes the id of a process that has just been started.
 */
export function rememberProcessGroups({ root, session_dir }: InstanceConfig): (pid: number) => void {
  if (root === "/" || process.platform !== "linux") return () => undefined;
  const file = join(session_dir, processGroupsFile);
  return (pid) => {
    try {
      const stat = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
      const startTicks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
      appendFileSync(file, `${String(pid)} ${startTicks}\n`);
    } catch {
      // It has ended, or no space is left; most are found by their environment as well.
    }
  };
}
