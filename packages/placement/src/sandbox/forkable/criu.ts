import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** For both directions. Tasks are frozen and their network has no other end, so that nothing needs a packet filter. */
const common = ["--manage-cgroups=ignore", "--file-locks", "--ext-unix-sk", "--external", "mnt[]:m"] as const;
/** Names of the outer network namespace and of folders that differ between a box and its copies. */
const networkName = "net";
const tailCharacters = 500;

export interface CriuTools {
  readonly criu: string;
  readonly setpriv: string;
}

/** A folder of the box that each copy has its own of, by its path in the box. */
export type OwnFolders = Readonly<Record<string, string>>;

const capabilities = [
  ...["chown", "dac_override", "dac_read_search", "fowner", "fsetid", "ipc_lock", "ipc_owner", "kill", "mknod"],
  ...["checkpoint_restore", "net_admin", "setgid", "setpcap", "setuid", "sys_admin", "sys_chroot", "sys_ptrace"],
  // For the clocks of a copy.
  "sys_time",
];

/**
 * CRIU reads memory of a hostile program, so it gets only the capabilities that it needs, and the user id of the box as
 * its real one: without it, reading the limits of the box's processes needs CAP_SYS_RESOURCE.
 */
export function asOwner({ criu, setpriv }: CriuTools, owner: number): readonly [program: string, ...rest: string[]] {
  return [
    setpriv,
    ...[`--ruid=${String(owner)}`, `--rgid=${String(owner)}`, "--clear-groups"],
    `--bounding-set=-all,${capabilities.map((name) => `+${name}`).join(",")}`,
    criu,
  ];
}

export interface DumpOptions {
  readonly tools: CriuTools;
  readonly owner: number;
  /** First process of the box. */
  readonly root: number;
  readonly images: string;
  /** Inode of the network namespace. */
  readonly network: number;
  readonly own: OwnFolders;
  readonly timeoutMs: number;
}

/** Of stopped processes, which stay so. @throws with the end of CRIU's log. */
export async function dump({ images, network, own, owner, root, timeoutMs, tools }: DumpOptions): Promise<void> {
  const [program, ...rest] = asOwner(tools, owner);
  const options = [
    ...["dump", "--tree", String(root), "--images-dir", images, "--leave-running", "--tcp-established"],
    ...["--network-lock", "skip", "--external", `net[${String(network)}]:${networkName}`, ...common],
    ...Object.keys(own).flatMap((path) => ["--external", `mnt[${path}]:${nameOf(path)}`]),
    ...["-v1", "--log-file", "dump.log"],
  ];
  try {
    await run(program, [...rest, ...options], { cwd: "/", env: {}, timeout: timeoutMs, killSignal: "SIGKILL" });
  } catch (error) {
    throw new Error(`CRIU could not store the processes: ${await tailOf(join(images, "dump.log"))}`, { cause: error });
  }
}

export interface RestoreOptions {
  readonly tools: CriuTools;
  readonly owner: number;
  readonly images: string;
  /** Where the root of the box is mounted. */
  readonly root: string;
  /** Private, for the log and the process id. */
  readonly folder: string;
  readonly networkFd: number;
  /** Names of the streams 0, 1 and 2 in the images. */
  readonly streams: readonly string[];
  readonly own: OwnFolders;
}

/** Waits for the processes, which it leaves stopped at first. */
export function restoreCommand({
  folder,
  images,
  networkFd,
  own,
  owner,
  root,
  streams,
  tools,
}: RestoreOptions): readonly string[] {
  return [
    ...asOwner(tools, owner),
    ...["restore", "--images-dir", images, "--work-dir", folder, "--leave-stopped", "--root", root, "--tcp-close"],
    ...streams.flatMap((name, fd) => ["--inherit-fd", `fd[${String(fd)}]:${name}`]),
    ...["--inherit-fd", `fd[${String(networkFd)}]:${networkName}`, ...common],
    ...Object.entries(own).flatMap(([path, from]) => ["--external", `mnt[${nameOf(path)}]:${from}`]),
    ...["-v1", "--log-file", restoreFiles.log, "--pidfile", join(folder, restoreFiles.pid)],
  ];
}

export const restoreFiles = { log: "restore.log", pid: "pid" } as const;

function nameOf(path: string): string {
  return path.replaceAll("/", "_");
}

/** Whether CRIU itself gave up, not for a lack of memory or space. A killed one says nothing about the images. */
export async function hasFailedRestore(log: string): Promise<boolean> {
  const text = await readFile(log, "utf8").catch(() => "");
  return text.includes("Restoring FAILED") && !/No space left|Cannot allocate memory/.test(text);
}

export async function tailOf(log: string): Promise<string> {
  const text = await readFile(log, "utf8").catch(() => "");
  const lines = text.split("\n").filter((line) => line.includes("Error"));
  return lines.slice(-3).join(" ").slice(-tailCharacters) || "it printed nothing";
}
