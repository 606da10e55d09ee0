import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, readlink, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { identityOf, isRunning, processNamespace } from "../../host/process-table.ts";
import { removeTree } from "../../host/remove-tree.ts";
import { sharedMemoryFolder } from "../launcher.ts";
import type { StoreWishes } from "../../boxes/box.ts";
import { PlacementError } from "../../interface/placement-error.ts";
import type { PlacementLog } from "../../interface/placement-log.ts";
import { type CriuTools, dump, type OwnFolders, restoreCommand, restoreFiles, tailOf } from "./criu.ts";
import { DumpTurns } from "./dump-turns.ts";
import { areStopped, continueAll, sleepAfter, stopAll, treeOf, wipeForkState } from "./process-tree.ts";

const run = promisify(execFile);

/** In memory: the images contain all secrets of a session. */
export const memoryFolder = "/dev/shm";
const prefix = "shoal-copy-";
/** With the inode of the namespace of processes, in which the id of the server is valid. */
const folderName = /^shoal-copy-(\d+)-(\d+)-(\d+)-\w+$/;
/** Left to the rest of the machine. */
const spareBytes = 256 * 2 ** 20;
/** For all attempts: the box does not run meanwhile, apart from moments. */
const storeMs = 15_000;
const restoreMs = 30_000;
const pollMs = 3;
const attempts = 8;
const againMs = 100;
const networkFd = 8;
/** Enters the network namespace and the files of a copy, before CRIU. */
const enter = 'cp -a "$1/." "$2/" && shift 2 && exec 8</proc/self/ns/net && exec "$@"';

export interface RunningBox {
  readonly tools: CriuTools;
  readonly owner: number;
  /** Bubblewrap's, in the mount namespace of the files. */
  readonly outer: number;
  readonly firstInside: number;
  /** Of the box's files, in that namespace. */
  readonly root: string;
  readonly own: OwnFolders;
  /** Of its memory and files. */
  readonly bytes: () => Promise<number>;
}

const turns = new DumpTurns({ maxRunning: 4, maxWaiting: 8, maxWaitMs: 20_000, retryAfterSeconds: storeMs / 1000 });
/** Of dumps that run: each would otherwise find the same memory free. */
let reservedBytes = 0;

/** The memory and the files of a box, for copies of it. */
export class StoredProcesses {
  /** For which the box did not run. */
  readonly pausedMs: number;
  readonly #box: RunningBox;
  readonly #folder: string;
  readonly #streams: readonly string[];

  private constructor(box: RunningBox, folder: string, about: { pausedMs: number; streams: readonly string[] }) {
    this.#box = box;
    this.#folder = folder;
    this.pausedMs = about.pausedMs;
    this.#streams = about.streams;
  }

  /** The box continues afterwards, also after a failure. @throws {PlacementError} @throws errors of CRIU. */
  static store(box: RunningBox, { project, signal }: StoreWishes): Promise<StoredProcesses> {
    const attempt = async (): Promise<StoredProcesses> => {
      const pause = { ms: 0 };
      const untilMs = performance.now() + storeMs;
      for (let count = 1; ; count++) {
        signal?.throwIfAborted();
        try {
          return await withMemory(await box.bytes(), () => StoredProcesses.#store(box, pause, untilMs));
        } catch (error) {
          // At some moments CRIU cannot take a process over, or the kernel has news that a socket has not read yet.
          if (count === attempts || PlacementError.isInstance(error) || performance.now() > untilMs) throw error;
          await sleep(againMs);
        }
      }
    };
    return turns.run(project, attempt, signal);
  }

  static async #store(box: RunningBox, pause: { ms: number }, untilMs: number): Promise<StoredProcesses> {
    const { firstInside, outer, own, owner, root, tools } = box;
    const folder = join(memoryFolder, await nameOfImages());
    const images = join(folder, "images");
    await mkdir(folder, { mode: 0o700 });
    try {
      await mkdir(images, { mode: 0o700 });
      const streams = await Promise.all(
        [0, 1, 2].map((fd) => readlink(`/proc/${String(firstInside)}/fd/${String(fd)}`)),
      );
      const network = (await stat(`/proc/${String(firstInside)}/ns/net`)).ino;
      const beganMs = performance.now();
      const leftMs = (): number => Math.max(1, Math.ceil(untilMs - performance.now()));
      try {
        await stopAll(firstInside);
        await requireMounts(firstInside, Object.keys(own));
        await dump({ tools, owner, root: firstInside, images, network, own, timeoutMs: leftMs() });
        const files = `/proc/${String(outer)}/root${root}`;
        // Another file system, which the other files contain as an empty folder.
        const shared = [`${files}/${sharedMemoryFolder}/.`, join(folder, "root", sharedMemoryFolder)];
        for (const [from = "", to = ""] of [[files, join(folder, "root")], shared])
          await run("cp", ["-ax", from, to], { timeout: leftMs(), killSignal: "SIGKILL" });
      } finally {
        continueAll(treeOf(firstInside));
        pause.ms += performance.now() - beganMs;
      }
      return new StoredProcesses(box, folder, { streams, pausedMs: Math.round(pause.ms) });
    } catch (error) {
      await removeTree(folder);
      throw error;
    }
  }

  /** The command that runs after the launcher of a box, which mounts `root` and makes the network. */
  command(id: string, { root, own }: { readonly root: string; readonly own: OwnFolders }): readonly string[] {
    const { owner, tools } = this.#box;
    const restore = restoreCommand({
      ...{ tools, owner, root, own, networkFd, streams: this.#streams },
      images: join(this.#folder, "images"),
      folder: join(this.#folder, id),
    });
    return ["/bin/sh", "-c", enter, "shoal", join(this.#folder, "root"), root, ...restore];
  }

  async prepare(id: string): Promise<void> {
    await mkdir(join(this.#folder, id), { mode: 0o700 });
  }

  /**
   * Waits until a copy is complete. None of its processes has run yet, and none has a random generator of the box.
   * @returns its first process. @throws with the end of CRIU's log.
   */
  async restored(id: string, ended: Promise<unknown>, signal?: AbortSignal): Promise<number> {
    const folder = join(this.#folder, id);
    const state = { hasEnded: false };
    void ended.then(() => (state.hasEnded = true));
    const untilMs = performance.now() + restoreMs;
    while (!state.hasEnded && performance.now() < untilMs) {
      signal?.throwIfAborted();
      const lookedMs = performance.now();
      const first = Number(await readFile(join(folder, restoreFiles.pid), "utf8").catch(() => ""));
      const tree = first > 0 ? treeOf(first) : [];
      if (tree.length > 0 && areStopped(tree)) {
        await wipeForkState(tree);
        return first;
      }
      await sleepAfter(lookedMs, pollMs);
    }
    throw new Error(`CRIU could not restore the processes: ${await tailOf(join(folder, restoreFiles.log))}`);
  }

  async drop(): Promise<void> {
    await removeTree(this.#folder);
  }
}

/** @throws {PlacementError} `no_space` */
async function withMemory<T>(bytes: number, work: () => Promise<T>): Promise<T> {
  const others = reservedBytes;
  reservedBytes += bytes;
  try {
    await requireMemory(bytes, others);
    return await work();
  } finally {
    reservedBytes -= bytes;
  }
}

async function requireMemory(bytes: number, others: number): Promise<void> {
  const neededBytes = 2 * (bytes + others) + spareBytes;
  const availableBytes = process.availableMemory();
  if (availableBytes < neededBytes)
    throw new PlacementError(
      "no_space",
      `A copy of this session needs ${inMegabytes(neededBytes)} of free memory, and the machine has ${inMegabytes(availableBytes)}. End sessions or add memory.`,
    );
  const { bavail, bsize } = await statfs(memoryFolder);
  if (bavail * bsize < bytes + others)
    throw new PlacementError(
      "no_space",
      `A copy of this session needs ${inMegabytes(bytes)} in ${memoryFolder}, which has ${inMegabytes(bavail * bsize)} left. End sessions or make it larger.`,
    );
}

const inMegabytes = (bytes: number): string => `${String(Math.ceil(bytes / 2 ** 20))} MB`;

/**
 * A program of the box can rename the folders above a mount. CRIU would then take the mount for a shared mount of all
 * boxes, and give the copy the parent's. @throws {PlacementError} `bad_option`.
 */
async function requireMounts(firstInside: number, paths: readonly string[]): Promise<void> {
  const mounts = await readFile(`/proc/${String(firstInside)}/mountinfo`, "utf8");
  const places = mounts.split("\n").map((line) => line.split(" ")[4]);
  const moved = paths.find((path) => places.filter((place) => place === path).length !== 1);
  if (moved !== undefined)
    throw new PlacementError("bad_option", `A program of the session has moved ${moved}, so it cannot be copied.`);
}

async function nameOfImages(): Promise<string> {
  const { pid, startTicks } = identityOf(process.pid);
  return `${prefix}${String(pid)}-${String(startTicks)}-${await ownNamespace()}-${randomBytes(6).toString("hex")}`;
}

async function ownNamespace(): Promise<string> {
  return /\d+/.exec((await processNamespace())?.namespace ?? "")?.[0] ?? "0";
}

/** Removes the images of servers of this user that were killed. Others cannot be removed, or may still be in use. */
export async function removeAbandonedImages(log: PlacementLog): Promise<void> {
  const own = await ownNamespace();
  for (const name of await readdir(memoryFolder).catch(() => [])) {
    const [, pid, startTicks, namespace] = folderName.exec(name) ?? [];
    if (pid === undefined || namespace !== own) continue;
    if (isRunning({ pid: Number(pid), startTicks: Number(startTicks) })) continue;
    const folder = join(memoryFolder, name);
    try {
      if ((await stat(folder)).uid === process.getuid?.()) await removeTree(folder);
    } catch (error) {
      log.warn({ path: folder, error: String(error) }, "The images of a server that was killed were not removed.");
    }
  }
}
