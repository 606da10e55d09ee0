import { disableInspectorSignal, type InstanceConfig } from "@shoal/instance";
import { openCompileCache } from "../boxes/compile-cache.ts";
import type { Box, BoxMaker, Exit, Viewport } from "../boxes/box.ts";
import type { InstalledProgram } from "../boxes/installed-program.ts";
import { homePath, type InstanceFiles, type InstanceFilesOptions, makeInstanceFiles } from "../boxes/instance-files.ts";
import { pinSocket } from "../boxes/pin-socket.ts";
import { SharedPlace } from "../boxes/shared-place.ts";
import type { EgressControls } from "../interface/egress.ts";
import { findTool } from "../host/tools.ts";
import { PlacementError } from "../interface/placement-error.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { basename, join } from "node:path";
import { type PlainProcess, startPlain } from "./plain-process.ts";
import type { Readable } from "node:stream";

export interface ProcessBoxOptions extends InstanceFilesOptions {
  readonly chromium: InstanceConfig["chromium"];
  readonly program: InstalledProgram;
  readonly cacheParent: string;
  readonly log: PlacementLog;
}

/** Plain processes of this user see this host's files and network, without isolation. */
export async function createProcessBoxes(options: ProcessBoxOptions): Promise<BoxMaker> {
  const { program } = options;
  const prlimit = process.platform === "linux" ? await findTool("prlimit") : undefined;
  // With the first instance: a service that starts none needs no cache.
  let cache: ReturnType<typeof openCompileCache> | undefined;
  const openCache = () =>
    (cache ??= openCompileCache({
      parent: options.cacheParent,
      program,
      surroundings: `process ${String(process.getuid?.())} ${program.path}`,
      log: options.log,
      command: async (folder) => [process.execPath, disableInspectorSignal, program.path, "--fill-cache", folder],
    }));
  return {
    kind: "process",
    async start(id, viewport): Promise<Box> {
      const cacheDir = await openCache();
      const files = await makeInstanceFiles(id, options);
      const config = configOf(id, { files, viewport, cacheDir, options });
      const home = join(files.root, ...homePath.split("/"));
      try {
        const process = await startPlain({
          prlimit,
          args: [disableInspectorSignal, program.path, id],
          cwd: home,
          stdio: ["pipe", "pipe", "pipe"],
          env: { ...plainEnvironment(files.root), SHOAL_INSTANCE: JSON.stringify(config) },
          sessionDir: files.sessionDir,
        });
        return new ProcessBox(id, process, files);
      } catch (error) {
        await files.clear();
        throw error;
      }
    },
  };
}

export function plainEnvironment(root: string): Readonly<Record<string, string>> {
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
    HOME: join(root, ...homePath.split("/")),
    TMPDIR: join(root, "tmp"),
    LANG: "C.UTF-8",
  };
}

function configOf(
  id: string,
  {
    files,
    viewport,
    cacheDir,
    options,
  }: {
    readonly files: InstanceFiles;
    readonly viewport: Viewport;
    readonly cacheDir: string | undefined;
    readonly options: ProcessBoxOptions;
  },
): InstanceConfig {
  return {
    instance_id: id,
    listen_path: files.instanceSocket,
    egress_path: files.egressSocket,
    root: files.root,
    home: homePath,
    session_dir: files.state,
    chromium: options.chromium,
    viewport,
    ...(cacheDir !== undefined && { cache_dir: cacheDir }),
  };
}

class ProcessBox implements Box {
  readonly id: string;
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly gone: Promise<Exit>;
  readonly egress: EgressControls;
  /** On Linux leftovers can be found and killed. */
  readonly asksToEnd: boolean = process.platform !== "linux";
  readonly #process: PlainProcess;
  readonly #files: InstanceFiles;

  constructor(id: string, plain: PlainProcess, files: InstanceFiles) {
    const { stdin, stdout, stderr } = plain.child;
    if (stdout === null || stderr === null) throw new Error("The instance has no output.");
    stdin?.on("error", () => undefined);
    this.id = id;
    this.pid = plain.pid;
    this.stdout = stdout;
    this.stderr = stderr;
    this.gone = plain.gone;
    this.#process = plain;
    this.egress = files.egress;
    this.#files = files;
  }

  kill(): void {
    this.#process.kill();
  }

  async reach(): Promise<string> {
    return this.#files.pinSocket();
  }

  async openShared(id: string): Promise<SharedPlace> {
    const { sockets } = this.#files;
    const paths = { listenPath: join(sockets, `${id}.sock`), egressPath: join(sockets, `${id}.out`) };
    const door = await this.#files.openDoor(basename(paths.egressPath));
    return new SharedPlace({ paths, door, findSocket: async () => pinSocket(paths.listenPath) });
  }

  async setPolicies(): Promise<never> {
    throw new PlacementError(
      "bad_option",
      "policies: sessions of the process placement cannot have their own, because Chromium reads them from a system folder.",
    );
  }

  async setMemory(): Promise<never> {
    throw new PlacementError(
      "bad_option",
      "memory: sessions of the process placement are plain processes without a memory limit.",
    );
  }

  clear(): Promise<void> {
    return this.#files.clear();
  }
}
