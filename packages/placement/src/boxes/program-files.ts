import { createAllowListPolicy, type EgressPolicy, type ResolveName } from "../policy/egress-policy.ts";
import type { ProgramOptions } from "../interface/program.ts";
import { type InstanceFiles, type InstanceFilesOptions, makeInstanceFiles } from "./instance-files.ts";
import { chmod, chown } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";

export interface ProgramFilesOptions extends InstanceFilesOptions {
  readonly resolveName: ResolveName;
}

export interface ProgramFiles extends InstanceFiles {
  readonly apiSocket: string;
}

export async function makeProgramFiles(
  id: string,
  { folders, gateway, policy, resolveName }: ProgramFilesOptions,
  { program, owner }: { readonly program: ProgramOptions; readonly owner?: number | undefined },
): Promise<ProgramFiles> {
  const files = await makeInstanceFiles(
    id,
    { folders, gateway, policy: policyOf(program, policy, resolveName) },
    owner,
  );
  files.egress.setProject(program.project);
  const apiSocket = process.platform === "win32" ? `\\\\.\\pipe\\shoal-${id}-api` : join(files.sockets, "api.sock");
  const api = new ConnectionDoor(program.onApiConnection);
  async function clear(): Promise<void> {
    await api.close();
    await files.clear();
  }
  try {
    await api.listen(apiSocket);
    if (process.platform !== "win32") await chmod(apiSocket, 0o600);
    if (owner !== undefined)
      for (const path of [apiSocket, ...program.writable.map(({ from }) => from)]) await chown(path, owner, owner);
  } catch (error) {
    await clear();
    throw error;
  }
  return { ...files, apiSocket, clear };
}

function policyOf({ reach }: ProgramOptions, pages: EgressPolicy, resolveName: ResolveName): EgressPolicy {
  return reach === "public" ? pages : createAllowListPolicy(reach, resolveName);
}

/** At once; a box could otherwise take all file descriptors of the service. */
const maxConnections = 256;

export class ConnectionDoor {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(onConnection: ((socket: Socket) => void) | undefined) {
    // node:http expects it: a client that ended its side still waits for the answer.
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("close", () => this.#sockets.delete(socket));
      if (onConnection === undefined || this.#sockets.size > maxConnections) socket.destroy();
      else onConnection(socket);
    });
  }

  /** @param where - path of a socket, or `undefined` for any port of 127.0.0.1. */
  async listen(where?: string): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      if (where === undefined) this.#server.listen(0, "127.0.0.1", resolve);
      else this.#server.listen(where, resolve);
    });
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
