import type { EgressControls } from "../interface/egress.ts";
import type { EgressDoor, EgressGateway } from "../egress/gateway.ts";
import type { EgressPolicy } from "../policy/egress-policy.ts";
import { removeTree } from "../host/remove-tree.ts";
import { type PinnedSocket, pinSocket } from "./pin-socket.ts";
import type { SessionFolders } from "./session-folders.ts";
import { stateFolder } from "./strays.ts";
import { chown, mkdir } from "node:fs/promises";
import { join } from "node:path";

export interface InstanceFiles {
  readonly sessionDir: string;
  readonly root: string;
  readonly state: string;
  /** On Windows the two sockets are pipes instead. */
  readonly sockets: string;
  readonly instanceSocket: string;
  readonly egressSocket: string;
  /** For programs of apps. */
  readonly apiSocket?: string;
  readonly pinSocket: (path?: string) => string;
  readonly egress: EgressControls;
  /** For one more session: the egress gateway also listens on this name next to the other sockets. */
  readonly openDoor: (name: string) => Promise<EgressDoor>;
  readonly clear: () => Promise<void>;
}

export interface InstanceFilesOptions {
  readonly folders: SessionFolders;
  readonly gateway: EgressGateway;
  readonly policy: EgressPolicy;
}

const rootFolder = "root";

export const homePath = "/home/shoal";

/** @param owner - numeric user and group, for a server that runs as root. */
export async function makeInstanceFiles(
  id: string,
  options: InstanceFilesOptions,
  owner?: number,
): Promise<InstanceFiles> {
  const sessionDir = join(options.folders.sessionsDir, id);
  const root = join(sessionDir, rootFolder);
  const state = join(sessionDir, stateFolder);
  const sockets = join(options.folders.runtimeDir, id);
  const isWindows = process.platform === "win32";
  const instanceSocket = isWindows ? `\\\\.\\pipe\\shoal-${id}-instance` : join(sockets, "instance.sock");
  const egressSocket = isWindows ? `\\\\.\\pipe\\shoal-${id}-egress` : join(sockets, "egress.sock");
  let opened: EgressDoor | undefined;
  let pinned: PinnedSocket | undefined;

  async function clear(): Promise<void> {
    pinned?.unpin();
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

  return {
    sessionDir,
    root,
    state,
    sockets,
    instanceSocket,
    egressSocket,
    clear,
    egress: opened,
    pinSocket(path = instanceSocket) {
      pinned ??= pinSocket(path);
      return pinned.path;
    },
    async openDoor(name) {
      const path = join(sockets, name);
      const door = await options.gateway.open(path, options.policy);
      if (owner !== undefined) await chown(path, owner, owner);
      return door;
    },
  };
}
