import type { EgressControls } from "../interface/egress.ts";
import type { EgressDoor, EgressGateway } from "../egress/gateway.ts";
import type { EgressPolicy } from "../policy/egress-policy.ts";
import { removeTree } from "../host/remove-tree.ts";
import type { SessionFolders } from "./session-folders.ts";
import { stateFolder } from "./strays.ts";
import { closeSync, constants, fstatSync, openSync } from "node:fs";
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
  readonly pinSocket: (path?: string) => string;
  readonly egress: EgressControls;
  readonly clear: () => Promise<void>;
}

export interface InstanceFilesOptions {
  readonly folders: SessionFolders;
  readonly gateway: EgressGateway;
  readonly policy: EgressPolicy;
}

/** Linux O_PATH: refers to a file without opening it. */
const openPathOnly = 0o10000000;

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
      if (process.platform !== "linux") return path;
      // Without the pin, a link in this directory, which the box may write to, could lead the service to a host socket.
      pinned ??= openSync(path, openPathOnly | constants.O_NOFOLLOW);
      if (!fstatSync(pinned).isSocket()) throw new Error("The instance does not listen on a socket.");
      return `/proc/self/fd/${pinned}`;
    },
  };
}
