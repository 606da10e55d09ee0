import { disableInspectorSignal, type InstanceConfig } from "@shoal/instance";
import type { Box, BoxMaker, Exit } from "./box.ts";
import { openCompileCache } from "./compile-cache.ts";
import { homePath, type InstanceFilesOptions, makeInstanceFiles } from "./instance-files.ts";
import type { PlacementLog } from "./placement.ts";
import { PlacementError } from "./placement-error.ts";
import type { InstalledProgram } from "./installed-program.ts";
import { identityOf, killStrays, lockLimitOf } from "./process-table.ts";
import { findTool } from "./sandbox-host.ts";
import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

export interface ProcessBoxOptions extends InstanceFilesOptions {
  readonly chromium: InstanceConfig["chromium"];
  readonly program: InstalledProgram;
  /** Directory that stays from one server to the next, for the compile cache. */
  readonly cacheParent: string;
  readonly log: PlacementLog;
}

/** Starts instances as plain processes of this user. They see this host's files and network: this isolates nothing. */
export async function createProcessBoxes(options: ProcessBoxOptions): Promise<BoxMaker> {
  const { program } = options;
  const prlimit = process.platform === "linux" ? await findTool("prlimit") : undefined;
  const cacheDir = await openCompileCache({
    parent: options.cacheParent,
    program,
    surroundings: `process ${String(process.getuid?.())} ${program.path}`,
    log: options.log,
    command: async (folder) => [process.execPath, disableInspectorSignal, program.path, "--fill-cache", folder],
  });
  return {
    kind: "process",
    async start(id, viewport): Promise<Box> {
      const files = await makeInstanceFiles(id, options);
      const config: InstanceConfig = {
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
      const home = join(files.root, ...homePath.split("/"));
      const limit = prlimit === undefined ? [] : [prlimit, `--locks=${String(lockLimitOf(files.sessionDir))}`, "--"];
      const [file, ...given] = [...limit, process.execPath, disableInspectorSignal, program.path, id] as const;
      const child = spawn(file, given, {
        cwd: home,
        // A group of its own, to be killed as one, and out of reach of a terminal's Ctrl-C.
        detached: true,
        stdio: ["pipe", "pipe", "pipe"],
        env: {
          PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
          HOME: home,
          TMPDIR: join(files.root, "tmp"),
          LANG: "C.UTF-8",
          SHOAL_SESSION_DIR: files.sessionDir,
          SHOAL_INSTANCE: JSON.stringify(config),
        },
      });
      const exited = new Promise<Exit>((resolve) => {
        child.once("exit", (code, signal) => {
          resolve({ code, signal });
        });
        child.once("error", () => {
          resolve({ code: null, signal: null });
        });
      });
      child.stdin.on("error", () => undefined);
      const { pid } = child;
      if (pid === undefined) {
        const reason = await new Promise((resolve) => child.once("error", resolve));
        await files.clear();
        throw new Error(`Node could not be started (${process.execPath}).`, { cause: reason });
      }

      const { startTicks } = identityOf(pid);
      return {
        id,
        pid,
        stdout: child.stdout,
        stderr: child.stderr,
        // Where leftovers can be found and killed there is no need to ask.
        asksToEnd: process.platform !== "linux",
        gone: exited.then(async (exit) => {
          await killTree(pid);
          await killStrays(files.sessionDir, startTicks);
          return exit;
        }),
        kill() {
          if (child.exitCode === null && child.signalCode === null) void killTree(pid);
        },
        pinSocket: () => Promise.resolve(files.pinSocket()),
        setUpstream: files.setUpstream,
        setPrivateHosts: files.setPrivateHosts,
        setProject: files.setProject,
        setPolicies: () =>
          Promise.reject(
            new PlacementError(
              "bad_option",
              "policies: sessions of the process placement have none of their own, since Chromium reads them from a folder of the whole system.",
            ),
          ),
        setMemory: () =>
          Promise.reject(
            new PlacementError("bad_option", "memory: sessions of the process placement are plain processes, whose memory nothing limits."),
          ),
        clear: files.clear,
      };
    },
  };
}

/** Kills the process group that a process leads; on Windows, the process and what descends from it. */
async function killTree(pid: number): Promise<void> {
  if (process.platform === "win32") {
    await run("taskkill", ["/pid", String(pid), "/T", "/F"]).catch(() => undefined);
    return;
  }
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nobody is left in it.
  }
}
