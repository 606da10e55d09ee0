import { readFileSync } from "node:fs";

/** Returns how many descriptors this process may have open; `Infinity` where the system has no limit or does not report one. */
export function maxOpenFiles(): number {
  try {
    const [, soft] = /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return soft === undefined || soft === "unlimited" ? Infinity : Number(soft);
  } catch {
    return limitOfReport();
  }
}

/** macOS has no `/proc`; Node's report calls getrlimit. */
function limitOfReport(): number {
  // The report's shape is Node's; only this field is read, and it is checked.
  const { userLimits } = process.report.getReport() as { readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : Infinity;
}
