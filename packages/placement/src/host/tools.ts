import { execFile } from "node:child_process";
import { access, constants, readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface SandboxTools {
  readonly bwrap: string;
  readonly prlimit: string | undefined;
  readonly setpriv: string | undefined;
  readonly unshare: string | undefined;
  readonly mount: string | undefined;
  readonly ip: string | undefined;
}

const folders = ["/usr/bin", "/usr/sbin", "/usr/local/bin"];

export async function findSandboxTools(): Promise<SandboxTools | undefined> {
  const [bwrap, prlimit, setpriv, unshare, mount, ip] = await Promise.all(
    ["bwrap", "prlimit", "setpriv", "unshare", "mount", "ip"].map(findTool),
  );
  return bwrap === undefined ? undefined : { bwrap, prlimit, setpriv, unshare, mount, ip };
}

export async function bubblewrapVersion(bwrap: string): Promise<string> {
  const { stdout } = await run(bwrap, ["--version"]).catch(() => ({ stdout: "" }));
  return /(?<![\d.])\d+(?:\.\d+)+/.exec(stdout)?.[0] ?? "unknown";
}

export async function kernelSetting(name: string): Promise<number | undefined> {
  const text = await readFile(`/proc/sys/${name.replaceAll(".", "/")}`, "utf8").catch(() => undefined);
  return text === undefined ? undefined : Number(text);
}

/** For boxes of a server that runs as root; far from ids of people, services and containers. */
const wantedIds = { first: 1_900_000_000, last: 1_999_999_999 } as const;

const lowestId = 20_000;

/** `undefined` if the server's user namespace has too few ids. */
export async function spareUserId(): Promise<number | undefined> {
  const map = await readFile("/proc/self/uid_map", "utf8");
  const ranges = map
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([first = 0, , count = 0]) => ({ first, last: first + count - 1 }));
  // In a container with few ids, use those above the ids of services.
  const few = ranges.find(({ first, last }) => last - Math.max(first, lowestId) > 10_000);
  const range = ranges.some(({ first, last }) => first <= wantedIds.first && last >= wantedIds.last)
    ? wantedIds
    : few && { first: Math.max(few.first, lowestId), last: few.last };
  if (range === undefined) return undefined;
  const id = range.first + Math.floor(Math.random() * (range.last - range.first));
  return id === 65_534 ? id - 1 : id;
}

/** Searches the system folders, which boxes see too. */
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

/** `certutil` must add authorities, and browsers read its database only on Linux. */
export async function canTrustAuthorities(): Promise<boolean> {
  return process.platform === "linux" && (await findTool("certutil")) !== undefined;
}

export function runsAsRoot(): boolean {
  return process.geteuid?.() === 0;
}
