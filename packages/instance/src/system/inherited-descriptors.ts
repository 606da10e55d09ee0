import { closeSync, readdirSync, readFileSync } from "node:fs";

/** `O_CLOEXEC` in `/proc/self/fdinfo`. Node sets it on every descriptor that it opens. */
const closeOnExec = 0o2_000_000;

/** An inherited directory would expose the host's files to the box. Linux only. */
export function closeInheritedDescriptors(): void {
  if (process.platform !== "linux") return;
  for (const name of readdirSync("/proc/self/fd")) {
    const descriptor = Number(name);
    if (descriptor > 2 && isInherited(descriptor)) closeSync(descriptor);
  }
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${String(descriptor)}`, "utf8"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    // This is the descriptor that listed the directory, closed by now.
    return false;
  }
}
