import type { ProgramMaker, RunningProgram } from "../boxes/program.ts";
import { makeProgramFiles, type ProgramFiles, type ProgramFilesOptions } from "../boxes/program-files.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { innerPorts } from "../interface/inner-ports.ts";
import type { ProgramOptions, ProgramPlace } from "../interface/program.ts";
import type { ImageContents } from "../image/image-contents.ts";
import { splitAttached } from "./attached-streams.ts";
import { containerSpec, containerUser, inside, type Mount } from "./container-spec.ts";
import { type ContainerEngine, explainEngine } from "./engine.ts";
import { folderLabel } from "./leftovers.ts";
import { listenForProgram } from "./program-channel.ts";
import { RunningContainer } from "./running-container.ts";
import { chmod } from "node:fs/promises";
import { basename, join } from "node:path";

export interface ContainerProgramOptions extends ProgramFilesOptions {
  readonly engine: ContainerEngine;
  readonly image: string;
  readonly contents: ImageContents;
  /** Without namespaces. */
  readonly seccomp: string;
  readonly accounts: string;
  readonly log: PlacementLog;
}

const channelFile = "channel.sock";

/** Starts programs in containers of this machine. The service runs as root, and changes the owner of folders. */
export class ContainerProgramMaker implements ProgramMaker {
  readonly #options: ContainerProgramOptions;

  constructor(options: ContainerProgramOptions) {
    this.#options = options;
  }

  async start(id: string, program: ProgramOptions): Promise<RunningProgram> {
    const { engine, log } = this.#options;
    const files = await makeProgramFiles(id, this.#options, { program, owner: containerUser });
    let container: string | undefined;
    let closeChannel: (() => void) | undefined;
    try {
      // The container may be one of a user namespace, whose numbers differ.
      await chmod(files.sockets, 0o755);
      const channel = await listenForProgram(join(files.sockets, channelFile));
      closeChannel = channel.close;
      container = await engine.create(`shoal-${id}`, this.#specOf(id, program, files));
      const streams = splitAttached(await engine.startAttached(container));
      const pid = await engine.pidOf(container);
      const running = new RunningContainer({ engine, container, instanceId: id, log });
      const gone = running.ended().finally(() => {
        streams.close();
      });
      const { stderr, stdout } = streams;
      return {
        ...{ pid, stdout, stderr, gone },
        channel: await channel.opened(gone),
        kill() {
          running.kill();
        },
        async clear() {
          channel.close();
          await files.clear();
        },
      };
    } catch (error) {
      closeChannel?.();
      if (container !== undefined) await engine.remove(container).catch(() => undefined);
      await files.clear();
      throw explainEngine(error);
    }
  }

  #specOf(id: string, program: ProgramOptions, files: ProgramFiles): object {
    const { accounts, contents, folders, image, seccomp } = this.#options;
    const { args, env } = program.command(placeOf(files, contents.node));
    const mounts: readonly Mount[] = [
      { from: files.sockets, to: inside.sockets },
      { from: accounts, to: inside.accounts },
      ...program.readOnly,
      ...program.writable.map((folder) => ({ ...folder, writable: true })),
    ];
    return containerSpec({
      ...{ image, seccomp, mounts, env },
      labels: { [folderLabel]: folders.sessionsDir },
      command: [contents.node, ...args, id],
      memoryBytes: program.memoryBytes,
      diskBytes: program.diskBytes,
      program: { folder: program.folder, scratch: program.scratch, maxProcesses: program.maxProcesses },
    });
  }
}

function placeOf(files: ProgramFiles, node: string): ProgramPlace {
  const socket = (path: string): string => `${inside.sockets}/${basename(path)}`;
  return {
    node,
    pathOf: (path) => path,
    channel: socket(channelFile),
    forward: [
      { port: innerPorts.api, path: socket(files.apiSocket) },
      { port: innerPorts.proxy, path: socket(files.egressSocket) },
    ],
    proxyUrl: `http://127.0.0.1:${String(innerPorts.proxy)}`,
    apiUrl: `http://127.0.0.1:${String(innerPorts.api)}`,
  };
}
