import type * as contract from "@shoal/contract";
import type { Handler } from "@shoal/router";
import { readProcesses } from "./tracking/process-entries.ts";
import { loadOf, membersOf, privateBytes } from "./tracking/process-tree.ts";
import { CpuShare } from "./tracking/cpu-share.ts";

export interface StatsParts {
  readonly connections: { readonly clients: number; readonly viewers: number };
  readonly pages: { readonly count: number };
  /** Whether every process that the instance sees belongs to the session. */
  readonly hasOwnProcesses: boolean;
}

export function sessionStats({
  connections,
  hasOwnProcesses,
  pages,
}: StatsParts): Handler<typeof contract.getBrowserStats, unknown> {
  const share = new CpuShare(0);
  return () => {
    const counts = { pages: pages.count, clients: connections.clients, viewers: connections.viewers };
    if (process.platform !== "linux") return counts;
    const all = readProcesses();
    const own = hasOwnProcesses ? all : membersOf(process.pid, all);
    const { cpuMs, memoryBytes } = loadOf(own, privateBytes);
    return { cpu_pct: share.measure(cpuMs), mem_bytes: memoryBytes, processes: own.length, ...counts };
  };
}
