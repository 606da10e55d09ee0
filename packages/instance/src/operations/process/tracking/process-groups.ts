import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { InstanceConfig } from "../../../protocol/protocol.ts";
import { processGroupsFile } from "../../../protocol/process-groups-file.ts";

/** Records processes, so that the placement finds them after the instance was killed. Only outside boxes. */
export function rememberProcessGroups({ root, session_dir }: InstanceConfig): (pid: number) => void {
  if (root === "/" || process.platform !== "linux") return () => undefined;
  const file = join(session_dir, processGroupsFile);
  return (pid) => {
    try {
      const stat = readFileSync(`/proc/${String(pid)}/stat`, "utf8");
      const startTicks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
      appendFileSync(file, `${String(pid)} ${startTicks}\n`);
    } catch {
      // The process has ended, or the disk is full. The environment still identifies most processes.
    }
  };
}
