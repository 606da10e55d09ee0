import { closeSync, readdirSync, readFileSync } from "node:fs";

/** `O_CLOEXEC` in the flags of `/proc/self/fdinfo`, octal. Node opens every descriptor with it. */
const closeOnExec = 0o2_000_000;

/**
 * Closes the descriptors that this process got from the program that launched the service, except standard input, output and error. A directory among them
 * would open the host's files to the box. Linux only.
 */
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
    // The descriptor that listed the directory.
    return false;
  }
}
