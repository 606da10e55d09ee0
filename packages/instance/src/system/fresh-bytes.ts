import { randomBytes } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";

/** Random bytes that differ between copies of a running process, unlike those of `node:crypto`. */
export function freshBytes(count: number): Buffer {
  if (process.platform === "win32") return randomBytes(count);
  const bytes = Buffer.alloc(count);
  const source = openSync("/dev/urandom", "r");
  try {
    if (readSync(source, bytes) !== count) throw new Error("The kernel returned too few random bytes.");
    return bytes;
  } finally {
    closeSync(source);
  }
}
