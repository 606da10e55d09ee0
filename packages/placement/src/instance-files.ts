import type { EgressDoor, EgressGateway } from "./egress-gateway.ts";
import type { EgressPolicy } from "./egress-policy.ts";
import type { EgressUpstream } from "./egress-upstream.ts";
import { removeTree } from "./remove-tree.ts";
import type { SessionFolders } from "./session-folders.ts";
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { chown, mkdir } from "node:fs/promises";
import { join } from "node:path";

/** What every instance has on the host, whatever kind of box it is in. */
export interface InstanceFiles {
  /** All that it keeps on disk. */
  readonly sessionDir: string;
  /** Its `/`. */
  readonly root: string;
  /** What its browser keeps. */
  readonly state: string;
  /** Directory of its two sockets. On Windows there is none, and the two are pipes. */
  readonly sockets: string;
  readonly instanceSocket: string;
  readonly egressSocket: string;
  /** @param path - the instance's socket, where it is not {@link InstanceFiles.instanceSocket}. */
  readonly pinSocket: (path?: string) => string;
  /** @throws {PlacementError} `bad_option`, see {@link EgressDoor.setUpstream}. */
  readonly setUpstream: (upstream: EgressUpstream | undefined) => void;
  readonly setPrivateHosts: (hosts: readonly string[]) => void;
  readonly setProject: (project: string) => void;
  readonly clear: () => Promise<void>;
}

export interface InstanceFilesOptions {
  readonly folders: SessionFolders;
  readonly gateway: EgressGateway;
  readonly policy: EgressPolicy;
}

/** Not in `fs.constants`: Linux, opens a path without opening what is there. */
const openPathOnly = 0o10000000;

/** Folder of a session for what its instance keeps. */
export const stateFolder = "state";
/** Below a session's folder: what is `/` to its programs. */
const rootFolder = "root";

/** Home directory inside, as an API path. */
export const homePath = "/home/shoal";

/**
 * Makes an instance's directories and opens its way out.
 *
 * @param owner - numeric user and group to give them to, for a server that runs as root.
 */
export async function makeInstanceFiles(id: string, options: InstanceFilesOptions, owner?: number): Promise<InstanceFiles> {
  const sessionDir = join(options.folders.sessionsDir, id);
  const root = join(sessionDir, rootFolder);
  const state = join(sessionDir, stateFolder);
  const sockets = join(options.folders.runtimeDir, id);
  const isWindows = process.platform === "win32";
  const instanceSocket = isWindows ? `\\\\.\\pipe\\shoal-${id}-instance` : join(sockets, "instance.sock");
  const egressSocket = isWindows ? `\\\\.\\pipe\\shoal-${id}-egress` : join(sockets, "egress.sock");
  let opened: EgressDoor | undefined;
  let pinned: number | undefined;

  async function clear(): Promise<void> {
    if (pinned !== undefined) closeSync(pinned);
    pinned = undefined;
    await Promise.all([opened?.close(), removeTree(sessionDir), removeTree(sockets)]);
  }

  try {
    const home = join(root, ...homePath.split("/"));
    const own = [sessionDir, root, join(root, "tmp"), home, join(home, "Downloads"), state, sockets];
    await Promise.all([
      mkdir(sockets, { mode: 0o700 }),
      mkdir(sessionDir, { mode: 0o700 }).then(() =>
        Promise.all([
          mkdir(state, { mode: 0o700 }),
          mkdir(join(home, "Downloads"), { recursive: true }),
          mkdir(join(root, "tmp"), { recursive: true }),
        ]),
      ),
    ]);
    opened = await options.gateway.open(egressSocket, options.policy);
    if (owner !== undefined) await Promise.all([...own, egressSocket].map((path) => chown(path, owner, owner)));
  } catch (error) {
    await clear();
    throw error;
  }

  const door = opened;
  return {
    sessionDir,
    root,
    state,
    sockets,
    instanceSocket,
    egressSocket,
    clear,
    setUpstream(upstream) {
      door.setUpstream(upstream);
    },
    setPrivateHosts(hosts) {
      door.setPrivateHosts(hosts);
    },
    setProject(project) {
      door.setProject(project);
    },
    pinSocket(path = instanceSocket) {
      if (process.platform !== "linux") return path;
      // The directory belongs to the box too: without this it could put a link there, and have the service talk to a socket of the host.
      pinned ??= openSync(path, openPathOnly | constants.O_NOFOLLOW);
      if (!fstatSync(pinned).isSocket()) throw new Error("What the instance listens on is not a socket.");
      return `/proc/self/fd/${pinned}`;
    },
  };
}
