import { anySignal } from "@shoal/primitives";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, readlink, stat, statfs, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { identityOf, isRunning, processNamespace } from "../../host/process-table.ts";
import { removeTree } from "../../host/remove-tree.ts";
import { sharedMemoryFolder } from "../launcher.ts";
import type { PackedCopy, UnpackWishes } from "../../interface/placement.ts";
import type { StoreWishes } from "../../boxes/box.ts";
import { PlacementError } from "../../interface/placement-error.ts";
import type { PlacementLog } from "../../interface/placement-log.ts";
import {
  type CriuTools,
  dump,
  hasFailedRestore,
  type OwnFolders,
  restoreCommand,
  restoreFiles,
  tailOf,
} from "./criu.ts";
import { DumpTurns } from "./dump-turns.ts";
import { packFolder, unpackFolder } from "./packed-copies.ts";
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

/** What a copy needs in addition to the images and the files. */
interface About {
  readonly owner: number;
  readonly streams: readonly string[];
  readonly pausedMs: number;
}

const aboutFile = "about.json";
const parts = { images: "images", root: "root" } as const;
const unpackMs = 120_000;

const turns = new DumpTurns({ maxRunning: 4, maxWaiting: 8, maxWaitMs: 20_000, retryAfterSeconds: storeMs / 1000 });
const unpackTurns = new DumpTurns({ maxRunning: 2, maxWaiting: 8, maxWaitMs: 30_000, retryAfterSeconds: 15 });
/** Of dumps that run: each would otherwise find the same memory free. */
let reservedBytes = 0;

/** The memory and the files of a box, for copies of it. */
export class StoredProcesses {
  readonly #tools: CriuTools;
  readonly #folder: string;
  readonly #about: About;

  private constructor(tools: CriuTools, folder: string, about: About) {
    this.#tools = tools;
    this.#folder = folder;
    this.#about = about;
  }

  /** For which the box did not run. */
  get pausedMs(): number {
    return this.#about.pausedMs;
  }

  /** User of the box and of its copies, whose files and processes keep theirs. */
  get owner(): number {
    return this.#about.owner;
  }

  /** @throws {PlacementError} `no_space`, `no_capacity`. @throws errors of the archive, and if it is not a packed copy. */
  static unpack(
    open: () => Promise<PackedCopy>,
    tools: CriuTools,
    { project, signal }: UnpackWishes,
  ): Promise<StoredProcesses> {
    return unpackTurns.run(project, async () => StoredProcesses.#unpack(await open(), tools, signal), signal);
  }

  static async #unpack(
    { archive, bytes }: PackedCopy,
    tools: CriuTools,
    signal: AbortSignal,
  ): Promise<StoredProcesses> {
    let folder: string | undefined;
    try {
      const images = (folder = join(memoryFolder, await nameOfImages()));
      await withMemory(bytes, async () => {
        await mkdir(images, { mode: 0o700 });
        const cut = anySignal([signal, AbortSignal.timeout(unpackMs)]);
        await unpackFolder(archive, images, { maxBytes: 2 * bytes + spareBytes, signal: cut });
      });
      return new StoredProcesses(tools, images, aboutOf(await readFile(join(images, aboutFile), "utf8")));
    } catch (error) {
      archive.destroy();
      if (folder !== undefined) await removeTree(folder);
      throw error;
    }
  }

  async pack(): Promise<PackedCopy> {
    await writeFile(join(this.#folder, aboutFile), JSON.stringify(this.#about));
    const { stdout } = await run("du", ["-s", "--block-size=1", this.#folder]);
    return {
      archive: packFolder(this.#folder, [aboutFile, parts.images, parts.root]),
      bytes: Number.parseInt(stdout, 10),
    };
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
    const images = join(folder, parts.images);
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
        const shared = [`${files}/${sharedMemoryFolder}/.`, join(folder, parts.root, sharedMemoryFolder)];
        for (const [from = "", to = ""] of [[files, join(folder, parts.root)], shared])
          await run("cp", ["-ax", from, to], { timeout: leftMs(), killSignal: "SIGKILL" });
      } finally {
        continueAll(treeOf(firstInside));
        pause.ms += performance.now() - beganMs;
      }
      return new StoredProcesses(tools, folder, { owner, streams, pausedMs: Math.round(pause.ms) });
    } catch (error) {
      await removeTree(folder);
      throw error;
    }
  }

  /** The command that runs after the launcher of a box, which mounts `root` and makes the network. */
  command(id: string, { root, own }: { readonly root: string; readonly own: OwnFolders }): readonly string[] {
    const { owner, streams } = this.#about;
    const restore = restoreCommand({
      ...{ tools: this.#tools, owner, root, own, networkFd, streams },
      images: join(this.#folder, parts.images),
      folder: join(this.#folder, id),
    });
    return ["/bin/sh", "-c", enter, "shoal", join(this.#folder, parts.root), root, ...restore];
  }

  async prepare(id: string): Promise<void> {
    await mkdir(join(this.#folder, id), { mode: 0o700 });
  }

  /**
   * Waits until a copy is complete. None of its processes has run yet, and none has a random generator of the box.
   * @returns its first process. @throws {PlacementError} `restore_failed`, with the end of CRIU's log, if CRIU has failed.
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
    const log = join(folder, restoreFiles.log);
    const problem = `CRIU could not restore the processes: ${await tailOf(log)}`;
    const isByCriu = state.hasEnded && (await hasFailedRestore(log));
    throw isByCriu ? new PlacementError("restore_failed", problem) : new Error(problem);
  }

  async drop(): Promise<void> {
    await removeTree(this.#folder);
  }
}

function aboutOf(text: string): About {
  const { owner, pausedMs, streams } = JSON.parse(text) as Partial<About>;
  if (owner === undefined || pausedMs === undefined || streams?.length !== 3)
    throw new Error("This is not a packed copy of a session.");
  return { owner, pausedMs, streams };
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
