import { disableInspectorSignal, type InstanceConfig } from "@shoal/instance";
import { boxLauncher } from "./box-launcher.ts";
import type { Box, BoxMaker, Exit } from "./box.ts";
import type { LocatedChromium } from "./chromium.ts";
import { openCompileCache } from "./compile-cache.ts";
import { copyFontCache, fontCachePath } from "./font-cache.ts";
import { homePath, type InstanceFilesOptions, makeInstanceFiles } from "./instance-files.ts";
import type { MemoryGroups } from "./memory-groups.ts";
import type { PlacementLog } from "./placement.ts";
import { PlacementError } from "./placement-error.ts";
import type { InstalledProgram } from "./installed-program.ts";
import { makeNodeLoader } from "./node-loader.ts";
import { killStrays, parentOf } from "./process-table.ts";
import { type Bind, hideOptions, sandboxCommand } from "./sandbox-command.ts";
import type { SandboxEtc } from "./sandbox-etc.ts";
import { spareUserId } from "./sandbox-host.ts";
import { runsAsRoot, type SandboxSupport } from "./sandbox-support.ts";
import { systemCallFilter } from "./system-call-filter.ts";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, readdir, realpath, rename, stat, unlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

export interface SandboxBoxOptions extends InstanceFilesOptions {
  readonly support: SandboxSupport & { readonly works: true };
  readonly etc: SandboxEtc;
  readonly chromium: LocatedChromium;
  /** A full browser beside a headless shell, where there is one. */
  readonly full: LocatedChromium | undefined;
  readonly program: InstalledProgram;
  /** Size of the filesystem in memory that a box has instead of a folder on the disk; absent for the folder. */
  readonly diskBytes: number | undefined;
  /** Limit the memory of boxes; absent where there is no limit. */
  readonly memory: MemoryGroups | undefined;
  /** Directory that stays from one server to the next, for the compile cache. */
  readonly cacheParent: string;
  readonly log: PlacementLog;
}

/** Where things are in a box, wherever they are on the host. */
const inside = {
  node: "/opt/shoal/node",
  loader: "/opt/shoal/loader",
  program: "/opt/shoal/program",
  cache: "/opt/shoal/cache",
  chromium: "/opt/shoal/chromium",
  fullChromium: "/opt/shoal/full-chromium",
  sockets: "/run/shoal",
  state: "/var/lib/shoal",
  policies: "/opt/shoal/policies",
} as const;

/** Folders that a box's user writes to. */
const writableFolders: readonly string[] = ["/tmp", homePath, `${homePath}/Downloads`, inside.state];

/** Where a browser finds its session's policies, in a box. */
export const policiesInside: string = inside.policies;

/** How long the last processes of a box may take to go after its first process was killed from outside. */
const lingerMs = 2_000;

/** Starts instances in bubblewrap boxes. */
export async function createSandboxBoxes(options: SandboxBoxOptions): Promise<BoxMaker> {
  const { support, etc, chromium, program } = options;
  const browser = await bindsOfChromium(chromium, inside.chromium);
  const full = options.full && (await bindsOfChromium(options.full, inside.fullChromium));
  const loader = await makeNodeLoader(options.cacheParent);
  const runtime: readonly Bind[] = [
    { from: await realpath(process.execPath), to: inside.node },
    ...(loader === undefined ? [] : [{ from: loader, to: inside.loader }]),
    { from: dirname(program.path), to: inside.program },
  ];
  const startProgram = [
    ...(loader === undefined ? [] : [inside.loader]),
    ...[inside.node, disableInspectorSignal, `${inside.program}/${basename(program.path)}`],
  ];
  const cacheDir = await openCompileCache({
    parent: options.cacheParent,
    program,
    surroundings: "sandbox",
    log: options.log,
    async command(folder) {
      // The program finds the cache only where, and as whom, it has filled it.
      const owner = runsAsRoot() ? await spareUserId() : undefined;
      const root = join(options.folders.runtimeDir, "compile");
      await mkdir(join(root, "home/shoal"), { recursive: true });
      if (owner !== undefined) await chown(folder, owner, owner);
      return sandboxCommand({
        tools: support.tools,
        etc,
        root,
        readOnly: runtime,
        writable: [{ from: folder, to: inside.cache }],
        owner,
        nestedUsers: support.nestedUsers,
        program: [...startProgram, "--fill-cache", inside.cache],
      });
    },
  });
  const fontCache = join(options.folders.runtimeDir, "fonts");
  const readOnly: readonly Bind[] = [
    ...runtime,
    ...(cacheDir === undefined ? [] : [{ from: cacheDir, to: inside.cache }]),
    ...((await copyFontCache(fontCache)) ? [{ from: fontCache, to: fontCachePath }] : []),
    ...browser.binds,
    ...(full?.binds ?? []),
  ];

  const filter = systemCallFilter(process.arch);

  return {
    kind: "sandbox",
    async start(id, viewport): Promise<Box> {
      const owner = runsAsRoot() ? await spareUserId() : undefined;
      const files = await makeInstanceFiles(id, options, owner);
      const policies = join(files.sessionDir, "policies");
      await makeReadable(policies).catch(async (error: unknown) => {
        await files.clear();
        throw error;
      });
      const config: InstanceConfig = {
        instance_id: id,
        listen_path: `${inside.state}/${basename(files.instanceSocket)}`,
        egress_path: `${inside.sockets}/${basename(files.egressSocket)}`,
        root: "/",
        home: homePath,
        session_dir: inside.state,
        chromium: {
          executable: browser.executable,
          kind: chromium.kind,
          inner_sandbox: support.nestedUsers,
          ...(full && { full: { executable: full.executable, inner_sandbox: support.nestedUsers } }),
        },
        viewport,
        node: inside.node,
        ...(cacheDir !== undefined && { cache_dir: inside.cache }),
      };
      const memory = await options.memory?.open(id).catch(async (error: unknown) => {
        await files.clear();
        throw error;
      });
      const clear = async (): Promise<void> => {
        await Promise.all([files.clear(), memory?.remove()]);
      };
      const memoryFiles =
        options.diskBytes === undefined ? undefined : { bytes: options.diskBytes, folders: writableFolders, mounted: support.mounts };
      const { command, options: boxOptions } = hideOptions(
        sandboxCommand({
          tools: support.tools,
          etc,
          root: files.root,
          ...(memoryFiles && { memoryFiles }),
          // The session cannot write to the policies, which hold for all its users, nor next to the socket of the egress gateway.
          readOnly: [...readOnly, { from: policies, to: inside.policies }, { from: files.sockets, to: inside.sockets }],
          writable: memoryFiles === undefined ? [{ from: files.state, to: inside.state }] : [],
          owner,
          nestedUsers: support.nestedUsers,
          infoFd: 3,
          ...(filter !== undefined && { filterFd: 4 }),
          program: [...startProgram, id],
        }),
        5,
      );
      const launcher = boxLauncher(support.tools, memoryFiles?.mounted === true ? { ...memoryFiles, root: files.root, owner } : undefined);
      const [program, ...given] = [...(memory?.command ?? []), ...launcher, ...command] as const;
      const child = spawn(program, given, {
        cwd: "/",
        // Out of reach of a terminal's Ctrl-C: the service decides when its sessions end.
        detached: true,
        stdio: ["pipe", "pipe", "pipe", "pipe", "pipe", "pipe"],
        env: {
          PATH: "/usr/local/bin:/usr/bin:/bin",
          HOME: homePath,
          USER: "shoal",
          LOGNAME: "shoal",
          SHELL: "/bin/sh",
          TMPDIR: "/tmp",
          LANG: "C.UTF-8",
          SHOAL_INSTANCE: JSON.stringify(config),
        },
      });
      const { pid } = child;
      if (pid === undefined) {
        const reason = await new Promise((resolve) => child.once("error", resolve));
        await clear();
        throw new Error(`Bubblewrap could not be started (${support.tools.bwrap}).`, { cause: reason });
      }
      const exited = new Promise<Exit>((resolve) => {
        child.once("exit", (code, signal) => {
          resolve({ code, signal });
        });
      });
      child.on("error", () => undefined);
      child.stdin.on("error", () => undefined);
      // Typed for three pipes at most; these are the six that `stdio` asks for.
      const [, , , info, filterPipe, optionsPipe] = child.stdio as unknown as readonly [Writable, Readable, Readable, Readable, Writable, Writable];
      filterPipe.on("error", () => undefined);
      filterPipe.end(filter);
      optionsPipe.on("error", () => undefined);
      optionsPipe.end(boxOptions);
      let firstInside: number | undefined;
      const told = readChildPid(info).then((found) => {
        firstInside = found;
      });

      return {
        id,
        pid,
        stdout: child.stdout,
        stderr: child.stderr,
        asksToEnd: false,
        gone: exited.then(async (exit) => {
          // Bubblewrap itself may have been killed; the kernel then kills the rest, and takes a moment for it.
          await told;
          // Killed before it told of its first process, bubblewrap may leave one behind that waits for its word for ever.
          if (firstInside === undefined) await killStrays(files.sessionDir);
          const until = performance.now() + lingerMs;
          while (firstInside !== undefined && parentOf(firstInside) !== undefined && performance.now() < until) await sleep(2);
          return exit;
        }),
        kill() {
          if (child.exitCode !== null || child.signalCode !== null) return;
          // The first process of the process namespace takes all others with it, and bubblewrap waits for that to be done.
          try {
            if (firstInside !== undefined && parentOf(firstInside) === pid) process.kill(firstInside, "SIGKILL");
            else child.kill("SIGKILL");
          } catch {
            // It ended by itself.
          }
        },
        async pinSocket() {
          await told;
          // The program has just made it, and nothing else has run in the box yet. Without a name no process in the box can connect to it.
          const socket = `/proc/${String(firstInside)}/root${config.listen_path}`;
          const pinned = files.pinSocket(socket);
          await unlink(socket);
          return pinned;
        },
        setUpstream: files.setUpstream,
        setPrivateHosts: files.setPrivateHosts,
        setProject: files.setProject,
        async setPolicies(wanted) {
          const revision = randomBytes(8).toString("hex");
          // A browser that reads meanwhile finds the old ones or the new ones.
          const fresh = join(files.sessionDir, `policies-${revision}`);
          // Chromium does not know this policy, and shows it all the same.
          await writeFile(fresh, JSON.stringify({ ...wanted, ShoalRevision: revision }));
          await chmod(fresh, 0o644);
          await rename(fresh, join(policies, "shoal.json"));
          return revision;
        },
        async setMemory(bytes) {
          if (memory === undefined)
            throw new PlacementError("bad_option", "memory: this process may make no control groups, so nothing limits the memory of a session.");
          await memory.setLimit(bytes).catch((error: unknown) => {
            const isGone = error instanceof Error && "code" in error && error.code === "ENOENT";
            throw isGone
              ? new PlacementError("instance_lost", `Instance ${id} has ended.`, { cause: error })
              : new PlacementError(
                  "start_failed",
                  `The kernel refuses to limit the memory of an instance to ${String(bytes)} bytes: ${String(error)}.`,
                  { cause: error },
                );
          });
        },
        clear,
      };
    },
  };
}

/** Makes a folder that a box's user may read, whatever this process' mask says. */
async function makeReadable(folder: string): Promise<void> {
  await mkdir(folder);
  await chmod(folder, 0o755);
}

async function readChildPid(info: Readable): Promise<number | undefined> {
  try {
    const parsed: unknown = JSON.parse(await text(info));
    return typeof parsed === "object" && parsed !== null && "child-pid" in parsed ? Number(parsed["child-pid"]) : undefined;
  } catch {
    return undefined;
  }
}

/** A browser of the system is in `/usr` anyway. Another one lies in a folder of its own with its libraries, or is a single file. */
async function bindsOfChromium(
  { executable }: LocatedChromium,
  place: string,
): Promise<{ readonly executable: string; readonly binds: readonly Bind[] }> {
  if (executable.startsWith("/usr/")) return { executable, binds: [] };
  const folder = dirname(executable);
  const to = join(place, basename(executable));
  const names = await readdir(folder);
  const isBrowserFolder = names.some((name) => name === "icudtl.dat" || name === "libGLESv2.so") && ((await stat(folder)).mode & 0o1000) === 0;
  return { executable: to, binds: [isBrowserFolder ? { from: folder, to: place } : { from: executable, to }] };
}
