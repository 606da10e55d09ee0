import { execFile } from "node:child_process";
import { access, constants, readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The programs of this host that make a box. */
export interface SandboxTools {
  readonly bwrap: string;
  /** Start the program inside with limits; absent where the host has no `prlimit`. */
  readonly prlimit: string | undefined;
  /** Needed by a server that runs as root, to start boxes as somebody else. */
  readonly setpriv: string | undefined;
  readonly unshare: string | undefined;
  readonly mount: string | undefined;
}

const folders = ["/usr/bin", "/usr/sbin", "/usr/local/bin"];

/** Finds them, or `undefined` where there is no bubblewrap. */
export async function findSandboxTools(): Promise<SandboxTools | undefined> {
  const [bwrap, prlimit, setpriv, unshare, mount] = await Promise.all(["bwrap", "prlimit", "setpriv", "unshare", "mount"].map(findTool));
  return bwrap === undefined ? undefined : { bwrap, prlimit, setpriv, unshare, mount };
}

/** What `bwrap --version` says, `0.8.0`. */
export async function bubblewrapVersion(bwrap: string): Promise<string> {
  const { stdout } = await run(bwrap, ["--version"]).catch(() => ({ stdout: "" }));
  return /\d+(?:\.\d+)+/.exec(stdout)?.[0] ?? "unknown";
}

/** A number in a file of `/proc/sys`, `undefined` where this kernel has no such setting. */
export async function kernelSetting(name: string): Promise<number | undefined> {
  const text = await readFile(`/proc/sys/${name.replaceAll(".", "/")}`, "utf8").catch(() => undefined);
  return text === undefined ? undefined : Number(text);
}

/** First and last of the user ids that boxes of a server that runs as root may have: far from those of people, services and containers. */
const wantedIds = { first: 1_900_000_000, last: 1_999_999_999 } as const;

/** Below are people and services. */
const lowestId = 20_000;

/**
 * A user id that nobody else has, for one box.
 *
 * @returns `undefined` where the server's own user namespace has no id to spare.
 */
export async function spareUserId(): Promise<number | undefined> {
  const map = await readFile("/proc/self/uid_map", "utf8");
  const ranges = map
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([first = 0, , count = 0]) => ({ first, last: first + count - 1 }));
  // In a container with few ids, those above what services usually have.
  const few = ranges.find(({ first, last }) => last - Math.max(first, lowestId) > 10_000);
  const range = ranges.some(({ first, last }) => first <= wantedIds.first && last >= wantedIds.last)
    ? wantedIds
    : few && { first: Math.max(few.first, lowestId), last: few.last };
  if (range === undefined) return undefined;
  const id = range.first + Math.floor(Math.random() * (range.last - range.first));
  return id === 65_534 ? id - 1 : id;
}

/** Where a program of this host is; only the usual folders, which boxes see too. */
export async function findTool(name: string): Promise<string | undefined> {
  for (const folder of folders) {
    const path = `${folder}/${name}`;
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  return undefined;
}

/** Whether browsers of this host can be told of authorities of a session's own: with `certutil`, and only on Linux do they read what it writes. */
export async function canTrustAuthorities(): Promise<boolean> {
  return process.platform === "linux" && (await findTool("certutil")) !== undefined;
}
