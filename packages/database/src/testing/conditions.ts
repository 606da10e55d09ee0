import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { describe } from "vitest";

const requireAll = process.env.SHOAL_REQUIRE_ALL === "1";

/** Skipped with the reason in its name; runs and fails under SHOAL_REQUIRE_ALL=1. */
export function describeIf(missing: string | undefined, name: string, body: () => void): void {
  const title = missing === undefined ? name : `${name} (skipped: ${missing})`;
  describe.skipIf(missing !== undefined && !requireAll)(title, body);
}

export const unshare = "/usr/bin/unshare";
export const setpriv = "/usr/bin/setpriv";

export const isRoot = process.geteuid?.() === 0;

export function whyNoMounts(): string | undefined {
  if (process.platform !== "linux") return "mount namespaces are a thing of Linux";
  try {
    execFileSync(unshare, ["--user", "--map-root-user", "--mount", "true"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "needs unshare (util-linux) and user namespaces";
  }
}

export function whyNoOtherUsers(): string | undefined {
  if (process.platform !== "linux") return "uses setpriv of Linux";
  return isRoot ? undefined : "needs root, to become another user";
}

export const debianPostgres = "/usr/lib/postgresql/15/bin";

export function whyNoPostgres15(): string | undefined {
  return existsSync(`${debianPostgres}/initdb`) ? undefined : "needs the Debian package postgresql-15";
}

/** Memory, where it is large and may contain programs, because initdb waits for disks. */
export function scratchBase(): string {
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    const mount = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .find((line) => line.split(" ")[1] === "/dev/shm");
    return bavail * bsize > 2 ** 31 && mount !== undefined && !mount.includes("noexec") ? "/dev/shm" : tmpdir();
  } catch {
    return tmpdir();
  }
}
