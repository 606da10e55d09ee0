import { statfsSync } from "node:fs";

/** Kernel filesystems that do not report changes or are endless, by their magic numbers in linux/magic.h. */
const silent = new Map([
  [0x9fa0, "proc"],
  [0x62656572, "sysfs"],
  [0x27e0eb, "cgroup"],
  [0x63677270, "cgroup2"],
  [0x1cd1, "devpts"],
  [0x64626720, "debugfs"],
  [0x74726163, "tracefs"],
  [0x73636673, "securityfs"],
  [0xcafe4a11, "bpf"],
]);

export function isSilent(hostPath: string | Buffer): boolean {
  if (process.platform !== "linux") return false;
  try {
    return silent.has(statfsSync(hostPath).type);
  } catch {
    return false;
  }
}
