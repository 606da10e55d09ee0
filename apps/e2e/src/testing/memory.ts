import { readFileSync } from "node:fs";

/** Private resident memory of a process in bytes, without file pages, which the system may drop. Linux only. */
export function anonymousBytes(pid: number): number {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
}

/** Follows the memory of processes while a function runs. */
export async function memoryDuring<T>(
  pids: Readonly<Record<string, number>>,
  work: () => Promise<T>,
): Promise<{
  readonly result: T;
  /** Maximum growth in bytes, by name. */
  readonly growth: Readonly<Record<string, number>>;
}> {
  const entries = Object.entries(pids);
  const before = new Map(entries.map(([name, pid]) => [name, anonymousBytes(pid)]));
  const growth: Record<string, number> = Object.fromEntries(entries.map(([name]) => [name, 0]));
  const look = () => {
    for (const [name, pid] of entries)
      growth[name] = Math.max(growth[name] ?? 0, anonymousBytes(pid) - (before.get(name) ?? 0));
  };
  const sampling = setInterval(look, 50);
  try {
    const result = await work();
    look();
    return { result, growth };
  } finally {
    clearInterval(sampling);
  }
}
