import { boxEnvironment } from "../boxes/box-environment.ts";
import { homePath } from "../boxes/instance-files.ts";
import type { ProgramMaker, RunningProgram } from "../boxes/program.ts";
import { makeProgramFiles, type ProgramFiles, type ProgramFilesOptions } from "../boxes/program-files.ts";
import type { MemoryGroup, MemoryGroups } from "../host/memory-groups.ts";
import { runsAsRoot, spareUserId } from "../host/tools.ts";
import { innerPorts } from "../interface/inner-ports.ts";
import type { ProgramOptions, ProgramPlace } from "../interface/program.ts";
import { type Bind, hideOptions, sandboxCommand } from "./command.ts";
import type { SandboxEtc } from "./etc.ts";
import { boxLauncher } from "./launcher.ts";
import { sandboxDescriptors, startSandboxed } from "./sandboxed-process.ts";
import type { SandboxSupport } from "./support.ts";
import { systemCallFilter } from "./system-call-filter.ts";
import { chmod, realpath, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";

export interface SandboxProgramOptions extends ProgramFilesOptions {
  readonly support: SandboxSupport & { readonly works: true };
  readonly etc: SandboxEtc;
  readonly memory: MemoryGroups | undefined;
}

const nodePath = "/opt/shoal/node";
const socketsPath = "/run/shoal";

/** Starts programs in boxes without a browser; they cannot create namespaces. */
export class SandboxProgramMaker implements ProgramMaker {
  readonly #options: SandboxProgramOptions;
  readonly #filter = systemCallFilter(process.arch, { namespaces: false });

  constructor(options: SandboxProgramOptions) {
    this.#options = options;
  }

  async start(id: string, program: ProgramOptions): Promise<RunningProgram> {
    const owner = runsAsRoot() ? await spareUserId() : undefined;
    const files = await makeProgramFiles(id, this.#options, { program, owner });
    let memory: MemoryGroup | undefined;
    try {
      memory = await this.#options.memory?.open(id);
      await memory?.setLimit(program.memoryBytes);
      const place = placeOf(files);
      const { args, env } = program.command(place);
      const { command, options } = await this.#commandOf(id, { program, files, memory, owner, args });
      const sandboxed = await startSandboxed({
        command,
        options,
        filter: this.#filter,
        sessionDir: files.sessionDir,
        hasChannel: true,
        env: { ...boxEnvironment, ...env },
      });
      const { stdout, stderr, channel } = sandboxed.pipes;
      if (channel === undefined) throw new Error("The program has no channel.");
      return {
        pid: sandboxed.pid,
        stdout,
        stderr,
        channel,
        gone: sandboxed.gone,
        kill() {
          sandboxed.kill();
        },
        async clear() {
          await Promise.all([files.clear(), memory?.remove()]);
        },
      };
    } catch (error) {
      await Promise.all([files.clear(), memory?.remove()]);
      throw error;
    }
  }

  async #commandOf(
    id: string,
    {
      program,
      files,
      memory,
      owner,
      args,
    }: {
      readonly program: ProgramOptions;
      readonly files: ProgramFiles;
      readonly memory: MemoryGroup | undefined;
      readonly owner: number | undefined;
      readonly args: readonly string[];
    },
  ): Promise<{ readonly command: readonly [program: string, ...rest: string[]]; readonly options: Buffer }> {
    const { etc, support } = this.#options;
    const memoryFiles = {
      bytes: program.diskBytes,
      folders: ["/tmp", homePath, ...program.scratch],
      mounted: support.mounts,
    };
    const { command, options } = hideOptions(
      sandboxCommand({
        tools: support.tools,
        etc,
        root: files.root,
        memoryFiles,
        readOnly: [
          { from: await realpath(process.execPath), to: nodePath },
          { from: files.sockets, to: socketsPath },
          ...(owner === undefined ? [] : [await accountsOf(files, owner)]),
          ...program.readOnly,
        ],
        writable: program.writable,
        owner,
        nestedUsers: false,
        maxProcesses: program.maxProcesses,
        folder: program.folder,
        infoFd: sandboxDescriptors.info,
        ...(this.#filter !== undefined && { filterFd: sandboxDescriptors.filter }),
        // The folder's name as last argument marks the box, see `killStrays`.
        program: [nodePath, ...args, id],
      }),
      sandboxDescriptors.options,
    );
    const launcher = boxLauncher(support.tools, {
      owner,
      files: memoryFiles.mounted ? { ...memoryFiles, root: files.root } : undefined,
    });
    const [first, ...rest] = [...(memory?.command ?? []), ...launcher, ...command] as const;
    return { command: [first, ...rest], options };
  }
}

function placeOf(files: ProgramFiles): ProgramPlace {
  return {
    pathOf: (inside) => inside,
    node: nodePath,
    channel: sandboxDescriptors.channel,
    forward: [
      { port: innerPorts.api, path: join(socketsPath, basename(files.apiSocket)) },
      { port: innerPorts.proxy, path: join(socketsPath, basename(files.egressSocket)) },
    ],
    proxyUrl: `http://127.0.0.1:${String(innerPorts.proxy)}`,
    apiUrl: `http://127.0.0.1:${String(innerPorts.api)}`,
  };
}

/** Programs look up their own user, which has no name without a user namespace. */
async function accountsOf(files: ProgramFiles, owner: number): Promise<Bind> {
  const from = join(files.sessionDir, "passwd");
  await writeFile(from, `shoal:x:${String(owner)}:${String(owner)}:shoal:${homePath}:/bin/sh\n`);
  await chmod(from, 0o644);
  return { from, to: "/etc/passwd" };
}
