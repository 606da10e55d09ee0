import { disableInspectorSignal, type InstanceConfig } from "@shoal/instance";
import type { Box, BoxMaker, Viewport } from "../boxes/box.ts";
import { boxEnvironment } from "../boxes/box-environment.ts";
import { openCompileCache } from "../boxes/compile-cache.ts";
import type { InstalledProgram } from "../boxes/installed-program.ts";
import { homePath, type InstanceFiles, type InstanceFilesOptions, makeInstanceFiles } from "../boxes/instance-files.ts";
import { makePolicies, policiesOf } from "../boxes/policies.ts";
import type { LocatedChromium } from "../chromium/find-chromium.ts";
import type { Freezers } from "../host/freezer.ts";
import type { MemoryGroup, MemoryGroups } from "../host/memory-groups.ts";
import { runsAsRoot, spareUserId } from "../host/tools.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { type Bind, hideOptions, sandboxCommand } from "./command.ts";
import type { SandboxEtc } from "./etc.ts";
import { copyFontCache, fontCachePath } from "./font-cache.ts";
import { boxLauncher } from "./launcher.ts";
import { makeNodeLoader } from "./node-loader.ts";
import { SandboxBox } from "./sandbox-box.ts";
import { sandboxDescriptors, startSandboxed } from "./sandboxed-process.ts";
import type { SandboxSupport } from "./support.ts";
import { systemCallFilter } from "./system-call-filter.ts";
import { chown, mkdir, readdir, realpath, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

export interface SandboxBoxOptions extends InstanceFilesOptions {
  readonly support: SandboxSupport & { readonly works: true };
  readonly etc: SandboxEtc;
  readonly chromium: LocatedChromium;
  readonly full: LocatedChromium | undefined;
  readonly program: InstalledProgram;
  /** In memory; `undefined` = a folder on disk. */
  readonly diskBytes: number | undefined;
  readonly memory: MemoryGroups | undefined;
  readonly freezers: Freezers | undefined;
  readonly cacheParent: string;
  readonly log: PlacementLog;
}

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

const writableFolders: readonly string[] = ["/tmp", homePath, `${homePath}/Downloads`, inside.state];

export const policiesInside: string = inside.policies;

export async function createSandboxBoxes(options: SandboxBoxOptions): Promise<BoxMaker> {
  const { cacheParent, chromium, folders, program } = options;
  const browser = await bindsOfChromium(chromium, inside.chromium);
  const full = options.full && (await bindsOfChromium(options.full, inside.fullChromium));
  const loader = await makeNodeLoader(cacheParent);
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
    parent: cacheParent,
    program,
    surroundings: "sandbox",
    log: options.log,
    command: (folder) => fillCacheCommand(folder, { options, runtime, startProgram }),
  });
  const fontCache = join(folders.runtimeDir, "fonts");
  return new SandboxBoxMaker(options, {
    browser: browser.executable,
    fullBrowser: full?.executable,
    startProgram,
    hasCache: cacheDir !== undefined,
    readOnly: [
      ...runtime,
      ...(cacheDir === undefined ? [] : [{ from: cacheDir, to: inside.cache }]),
      ...((await copyFontCache(fontCache)) ? [{ from: fontCache, to: fontCachePath }] : []),
      ...browser.binds,
      ...(full?.binds ?? []),
    ],
  });
}

/** Fills it in a box: the cache is used only at the path and as the user that filled it. */
async function fillCacheCommand(
  folder: string,
  {
    options: { support, etc, folders },
    runtime,
    startProgram,
  }: {
    readonly options: SandboxBoxOptions;
    readonly runtime: readonly Bind[];
    readonly startProgram: readonly string[];
  },
): Promise<readonly [program: string, ...rest: string[]]> {
  const owner = runsAsRoot() ? await spareUserId() : undefined;
  const root = join(folders.runtimeDir, "compile");
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
}

interface BoxContents {
  readonly browser: string;
  readonly fullBrowser: string | undefined;
  readonly startProgram: readonly string[];
  readonly hasCache: boolean;
  readonly readOnly: readonly Bind[];
}

class SandboxBoxMaker implements BoxMaker {
  readonly kind = "sandbox";
  readonly #options: SandboxBoxOptions;
  readonly #contents: BoxContents;
  readonly #filter = systemCallFilter(process.arch, { namespaces: true });

  constructor(options: SandboxBoxOptions, contents: BoxContents) {
    this.#options = options;
    this.#contents = contents;
  }

  async start(id: string, viewport: Viewport): Promise<Box> {
    const owner = runsAsRoot() ? await spareUserId() : undefined;
    const files = await makeInstanceFiles(id, this.#options, owner);
    let memory: MemoryGroup | undefined;
    try {
      await makePolicies(files);
      memory = await this.#options.memory?.open(id);
    } catch (error) {
      await files.clear();
      throw error;
    }
    const config = this.#configOf(id, files, viewport);
    const { command, options } = this.#commandOf(id, { files, owner, memory });
    try {
      const process = await startSandboxed({
        command,
        options,
        filter: this.#filter,
        sessionDir: files.sessionDir,
        hasChannel: false,
        env: { ...boxEnvironment, SHOAL_INSTANCE: JSON.stringify(config) },
      });
      const freezer = memory && this.#options.freezers?.of(id, memory);
      return new SandboxBox(id, {
        ...{ process, files, memory, freezer },
        listenPath: config.listen_path,
        egressPath: config.egress_path,
      });
    } catch (error) {
      await Promise.all([files.clear(), memory?.remove()]);
      throw error;
    }
  }

  #configOf(id: string, files: InstanceFiles, viewport: Viewport): InstanceConfig & { readonly listen_path: string } {
    const { chromium, support } = this.#options;
    const { browser, fullBrowser, hasCache } = this.#contents;
    return {
      instance_id: id,
      listen_path: `${inside.state}/${basename(files.instanceSocket)}`,
      egress_path: `${inside.sockets}/${basename(files.egressSocket)}`,
      root: "/",
      home: homePath,
      session_dir: inside.state,
      chromium: {
        executable: browser,
        kind: chromium.kind,
        inner_sandbox: support.nestedUsers,
        ...(fullBrowser !== undefined && { full: { executable: fullBrowser, inner_sandbox: support.nestedUsers } }),
      },
      viewport,
      node: inside.node,
      ...(hasCache && { cache_dir: inside.cache }),
    };
  }

  #commandOf(
    id: string,
    {
      files,
      owner,
      memory,
    }: {
      readonly files: InstanceFiles;
      readonly owner: number | undefined;
      readonly memory: MemoryGroup | undefined;
    },
  ): { readonly command: readonly [program: string, ...rest: string[]]; readonly options: Buffer } {
    const { diskBytes, etc, support } = this.#options;
    const { readOnly, startProgram } = this.#contents;
    const memoryFiles =
      diskBytes === undefined ? undefined : { bytes: diskBytes, folders: writableFolders, mounted: support.mounts };
    const { command, options } = hideOptions(
      sandboxCommand({
        tools: support.tools,
        etc,
        root: files.root,
        ...(memoryFiles && { memoryFiles }),
        // Not writable for the session: policies apply to all its users. The same for the gateway's socket.
        readOnly: [
          ...readOnly,
          { from: policiesOf(files), to: inside.policies },
          { from: files.sockets, to: inside.sockets },
        ],
        writable: memoryFiles === undefined ? [{ from: files.state, to: inside.state }] : [],
        owner,
        nestedUsers: support.nestedUsers,
        hasInterface: support.interfaces,
        infoFd: sandboxDescriptors.info,
        ...(this.#filter !== undefined && { filterFd: sandboxDescriptors.filter }),
        program: [...startProgram, id],
      }),
      sandboxDescriptors.options,
    );
    const launcher = boxLauncher(support.tools, {
      owner,
      hasInterface: support.interfaces,
      files: memoryFiles?.mounted === true ? { ...memoryFiles, root: files.root } : undefined,
    });
    const [first, ...rest] = [...(memory?.command ?? []), ...launcher, ...command] as const;
    return { command: [first, ...rest], options };
  }
}

/** A browser in `/usr` needs none. Others are in a folder with their libraries, or a single file. */
async function bindsOfChromium(
  { executable }: LocatedChromium,
  place: string,
): Promise<{ readonly executable: string; readonly binds: readonly Bind[] }> {
  if (executable.startsWith("/usr/")) return { executable, binds: [] };
  const folder = dirname(executable);
  const to = join(place, basename(executable));
  const names = await readdir(folder);
  const isBrowserFolder =
    names.some((name) => name === "icudtl.dat" || name === "libGLESv2.so") &&
    ((await stat(folder)).mode & 0o1000) === 0;
  return { executable: to, binds: [isBrowserFolder ? { from: folder, to: place } : { from: executable, to }] };
}
