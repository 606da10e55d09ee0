import { readFileSync } from "node:fs";

/** `Infinity` if unlimited or unknown. */
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
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : Infinity;
}
