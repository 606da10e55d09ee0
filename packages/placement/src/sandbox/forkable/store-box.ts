import type { Box, StoredBox, StoreWishes } from "../../boxes/box.ts";
import type { PackedCopy, UnpackWishes } from "../../interface/placement.ts";
import type { InstanceFiles } from "../../boxes/instance-files.ts";
import type { MemoryGroup } from "../../host/memory-groups.ts";
import { findTool, type SandboxTools } from "../../host/tools.ts";
import { PlacementError } from "../../interface/placement-error.ts";
import { boxLauncher } from "../launcher.ts";
import { type SandboxedProcess, startRestored } from "../sandboxed-process.ts";
import type { OwnFolders } from "./criu.ts";
import { openStandardPipes, type StandardPipes } from "./pipes.ts";
import { continueAll, startersOf, treeOf } from "./process-tree.ts";
import { StoredProcesses } from "./stored-processes.ts";
import { chown, writeFile } from "node:fs/promises";
import { join } from "node:path";

interface BoxPlace {
  readonly files: InstanceFiles;
  readonly memory: MemoryGroup | undefined;
}

/** Makes the separate parts of a copy. */
export interface BoxCopies {
  /** Of its files. */
  readonly diskBytes: number;
  /** Next to its sockets; see `reborn_path` of the instance. */
  readonly rebornFile: string;
  /** Of the key of this service, which may be another one than that of the original. */
  readonly servicePin: () => string;
  readonly ownFolders: (files: InstanceFiles) => OwnFolders;
  readonly place: (id: string, owner: number) => Promise<BoxPlace>;
  readonly open: (
    id: string,
    parts: BoxPlace & {
      readonly process: SandboxedProcess;
      readonly owner: number;
      readonly streams: StandardPipes;
      readonly onAnnounced: () => void;
    },
  ) => Box;
  /** Counts a copy with the same user. @returns what its end calls. @throws {PlacementError} `bad_option` above the limit. */
  readonly join: (owner: number) => () => void;
}

interface BoxToStore {
  readonly memory: MemoryGroup;
  readonly files: InstanceFiles;
  readonly owner: number;
  readonly tools: SandboxTools;
  readonly copies: BoxCopies;
}

/** Stores a running box, which continues. @throws {PlacementError} `instance_lost`, `no_space`, `no_capacity`. @throws errors of CRIU. */
export async function storeBox(
  { firstInside, pid: outer }: SandboxedProcess,
  { copies, files, memory, owner, tools }: BoxToStore,
  wishes: StoreWishes,
): Promise<StoredBox> {
  const criu = await findTool("criu");
  if (criu === undefined || firstInside === undefined)
    throw new PlacementError("instance_lost", "The processes of the session, or CRIU, are gone.");
  // Before its processes are stopped.
  copies.join(owner)();
  const stored = await StoredProcesses.store(
    {
      tools: { criu, setpriv: tools.setpriv ?? "setpriv" },
      ...{ owner, outer, firstInside, root: files.root, own: copies.ownFolders(files) },
      bytes: () => memory.storableBytes(),
    },
    wishes,
  );
  return storedBox(stored, { copies, tools });
}

/** @throws {PlacementError} `no_space`. @throws errors of the archive. */
export async function unpackBox(
  open: () => Promise<PackedCopy>,
  { copies, tools }: Pick<BoxToStore, "copies" | "tools">,
  wishes: UnpackWishes,
): Promise<StoredBox> {
  const criu = await findTool("criu");
  if (criu === undefined) throw new PlacementError("bad_option", "CRIU is gone.");
  const criuTools = { criu, setpriv: tools.setpriv ?? "setpriv" };
  return storedBox(await StoredProcesses.unpack(open, criuTools, wishes), { copies, tools });
}

function storedBox(stored: StoredProcesses, { copies, tools }: Pick<BoxToStore, "copies" | "tools">): StoredBox {
  const { owner } = stored;
  return {
    pausedMs: stored.pausedMs,
    start: (id, signal) => restore(id, stored, { copies, owner, signal, tools }),
    pack: () => stored.pack(),
    drop: () => stored.drop(),
  };
}

async function restore(
  id: string,
  stored: StoredProcesses,
  { copies, owner, signal, tools }: Omit<BoxToStore, "files" | "memory"> & { readonly signal: AbortSignal | undefined },
): Promise<Box> {
  const leave = copies.join(owner);
  const { files, memory } = await copies.place(id, owner).catch((error: unknown) => {
    leave();
    throw error;
  });
  const { root, sessionDir, sockets } = files;
  let streams: StandardPipes | undefined;
  try {
    await stored.prepare(id);
    const reborn = join(sockets, copies.rebornFile);
    await writeFile(reborn, `${id}\n${copies.servicePin()}`);
    await chown(reborn, owner, owner);
    streams = await openStandardPipes();
    const mounted = { root, bytes: copies.diskBytes, folders: [] };
    const launcher = boxLauncher(tools, { owner, hasInterface: true, files: mounted });
    const [program, ...rest] = [
      ...(memory?.command ?? []),
      ...launcher,
      ...stored.command(id, { root, own: copies.ownFolders(files) }),
    ] as const;
    const process = await startRestored([program, ...rest], { sessionDir, streams }, (ended) =>
      stored.restored(id, ended, signal),
    );
    await process.reported;
    const tree = treeOf(process.firstInside ?? 0);
    // Others could announce another key before the instance does.
    const [early, others] = startersOf(tree);
    const onAnnounced = (): void => {
      continueAll(others);
    };
    const box = copies.open(id, { files, memory, process, owner, streams, onAnnounced });
    void box.gone.then(leave);
    continueAll(early);
    return box;
  } catch (error) {
    leave();
    streams?.close();
    // Also ends what CRIU has restored.
    await Promise.allSettled([files.clear(), memory?.remove()]);
    throw error;
  }
}
