import { disableInspectorSignal, type InstanceConfig } from "@shoal/instance";
import type { Box, BoxMaker, BoxWishes, StoredBox, Viewport } from "../boxes/box.ts";
import { boxEnvironment } from "../boxes/box-environment.ts";
import { openCompileCache } from "../boxes/compile-cache.ts";
import type { InstalledProgram } from "../boxes/installed-program.ts";
import { homePath, type InstanceFiles, type InstanceFilesOptions, makeInstanceFiles } from "../boxes/instance-files.ts";
import { localesFolder, localesOf, makeLocales } from "../boxes/locales.ts";
import { makePolicies, policiesOf } from "../boxes/policies.ts";
import type { LocatedChromium } from "../chromium/find-chromium.ts";
import { bindsOfChromium } from "./chromium-binds.ts";
import type { Freezers } from "../host/freezer.ts";
import type { MemoryGroup, MemoryGroups } from "../host/memory-groups.ts";
import { runsAsRoot, spareUserId } from "../host/tools.ts";
import type { CopyNeeds, PackedCopy, UnpackWishes } from "../interface/placement.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { type Bind, hideOptions, sandboxCommand } from "./command.ts";
import type { SandboxEtc } from "./etc.ts";
import { copyFontCache, fontCachePath } from "./font-cache.ts";
import { boxLauncher } from "./launcher.ts";
import { makeNodeLoader } from "./node-loader.ts";
import { SandboxBox } from "./sandbox-box.ts";
import { type SandboxedProcess, sandboxDescriptors, startSandboxed } from "./sandboxed-process.ts";
import type { SandboxSupport } from "./support.ts";
import { systemCallFilter } from "./system-call-filter.ts";
import { TlsIdentity } from "@shoal/primitives/pinned-tls";
import { StreamedInstance } from "../remote/streamed-instance.ts";
import type { OwnFolders } from "./forkable/criu.ts";
import { copyNeedsOf } from "./forkable/copy-needs.ts";
import { type BoxCopies, storeBox, unpackBox } from "./forkable/store-box.ts";
import { openStandardPipes, type StandardPipes } from "./forkable/pipes.ts";
import { maxProcessesOfRelatives, Relatives } from "./forkable/relatives.ts";
import { chown, mkdir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

export interface SandboxBoxOptions extends InstanceFilesOptions {
  readonly support: SandboxSupport & { readonly works: true };
  readonly etc: SandboxEtc;
  readonly chromium: LocatedChromium;
  readonly full: LocatedChromium | undefined;
  /** Installed ones of the full browser. */
  readonly locales: readonly string[];
  readonly program: InstalledProgram;
  /** In memory; `undefined` = a folder on disk. */
  readonly diskBytes: number | undefined;
  readonly memory: MemoryGroups | undefined;
  readonly freezers: Freezers | undefined;
  readonly cacheParent: string;
  /** One sentence; `undefined` if boxes can be copied. */
  readonly unforkableBecause: string | undefined;
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
  locales: "/opt/shoal/locales",
} as const;

const writableFolders: readonly string[] = ["/tmp", homePath, `${homePath}/Downloads`, inside.state];

const rebornFile = "reborn";
const egressOfForkable = `${inside.state}/egress.sock`;
/** Of files of a forkable session without a limit. */
const defaultForkableBytes = 2 ** 30;

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
  const fullBrowser = options.chromium.kind === "chrome" ? browser.executable : full?.executable;
  const fullOutside = options.chromium.kind === "chrome" ? chromium.executable : options.full?.executable;
  const hasLocales = fullBrowser !== undefined && fullOutside !== undefined && options.locales.length > 0;
  return new SandboxBoxMaker(options, {
    browser: browser.executable,
    fullBrowser: full?.executable,
    startProgram,
    hasCache: cacheDir !== undefined,
    hasLoader: loader !== undefined,
    locales: hasLocales ? localesFolder(fullBrowser) : undefined,
    readOnly: [
      ...runtime,
      ...(cacheDir === undefined ? [] : [{ from: cacheDir, to: inside.cache }]),
      ...((await copyFontCache(fontCache)) ? [{ from: fontCache, to: fontCachePath }] : []),
      ...browser.binds,
      ...(full?.binds ?? []),
      // Before the folder of a session hides them.
      ...(hasLocales ? [{ from: localesFolder(fullOutside), to: inside.locales }] : []),
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
  readonly hasLoader: boolean;
  /** Folder of the full browser, hidden by one of the session. */
  readonly locales: string | undefined;
  readonly readOnly: readonly Bind[];
}

class SandboxBoxMaker implements BoxMaker {
  readonly kind = "sandbox";
  readonly #options: SandboxBoxOptions;
  readonly #contents: BoxContents;
  readonly #filter = systemCallFilter(process.arch, { namespaces: true });
  readonly #storableFilter = systemCallFilter(process.arch, { namespaces: false, storable: true });
  readonly #relatives = new Relatives();
  readonly #identity = lazily(() => new TlsIdentity("shoal"));

  constructor(options: SandboxBoxOptions, contents: BoxContents) {
    this.#options = options;
    this.#contents = contents;
  }

  get unforkableBecause(): string | undefined {
    return this.#options.unforkableBecause;
  }

  copyNeeds(): Promise<CopyNeeds> {
    const { chromium, program } = this.#options;
    return copyNeedsOf({ executable: chromium.executable, program: program.hash });
  }

  unpack(open: () => Promise<PackedCopy>, wishes: UnpackWishes): Promise<StoredBox> {
    return unpackBox(open, { tools: this.#options.support.tools, copies: this.#copies() }, wishes);
  }

  async start(id: string, viewport: Viewport, { forkable = false }: BoxWishes = {}): Promise<Box> {
    const owner = runsAsRoot() ? await spareUserId() : undefined;
    const { files, memory } = await this.#place(id, owner);
    const config = this.#configOf(id, { files, viewport, forkable });
    const { command, options } = this.#commandOf(id, { files, owner, memory, forkable });
    let streams: StandardPipes | undefined;
    try {
      streams = forkable ? await openStandardPipes() : undefined;
      const process = await startSandboxed({
        command,
        options,
        filter: this.#filterOf(forkable),
        sessionDir: files.sessionDir,
        hasChannel: false,
        env: { ...boxEnvironment, SHOAL_INSTANCE: JSON.stringify(config) },
        ...(streams && { streams }),
      });
      const box = this.#boxOf(id, { process, files, memory, owner, streams, config });
      if (forkable && owner !== undefined) void box.gone.then(this.#relatives.join(owner));
      return box;
    } catch (error) {
      streams?.close();
      await Promise.allSettled([files.clear(), memory?.remove()]);
      throw error;
    }
  }

  async #place(
    id: string,
    owner: number | undefined,
  ): Promise<{ readonly files: InstanceFiles; readonly memory: MemoryGroup | undefined }> {
    const files = await makeInstanceFiles(id, this.#options, owner);
    try {
      await makePolicies(files);
      if (this.#contents.locales !== undefined) await makeLocales(files, inside.locales);
      return { files, memory: await this.#options.memory?.open(id) };
    } catch (error) {
      await files.clear();
      throw error;
    }
  }

  #boxOf(
    id: string,
    {
      config,
      files,
      isHeld = false,
      memory,
      onAnnounced,
      owner,
      process,
      streams,
    }: {
      readonly isHeld?: boolean;
      readonly onAnnounced?: () => void;
      readonly process: SandboxedProcess;
      readonly files: InstanceFiles;
      readonly memory: MemoryGroup | undefined;
      readonly owner: number | undefined;
      readonly streams: StandardPipes | undefined;
      readonly config: Pick<InstanceConfig, "egress_path" | "listen_path">;
    },
  ): SandboxBox {
    const { freezers, locales, log, support } = this.#options;
    const { locales: hidden } = this.#contents;
    const place = streams && { id, files, host: "this machine", stdin: streams.stdin, stdout: streams.stdout };
    return new SandboxBox(id, {
      ...{ process, files, memory },
      freezer: memory && freezers?.of(id, memory),
      locales: hidden === undefined ? undefined : { installed: locales, originals: inside.locales },
      listenPath: config.listen_path ?? "",
      egressPath: config.egress_path,
      streamed: place && new StreamedInstance({ ...place, isHeld, onAnnounced, identity: this.#identity(), log }),
      store:
        streams === undefined || owner === undefined || memory === undefined
          ? undefined
          : (running, wishes) =>
              storeBox(running, { files, memory, owner, tools: support.tools, copies: this.#copies() }, wishes),
    });
  }

  #copies(): BoxCopies {
    return {
      diskBytes: this.#forkableBytes,
      rebornFile,
      servicePin: () => this.#identity().pin,
      join: (owner) => this.#relatives.join(owner),
      ownFolders: (files) => this.#ownFolders(files),
      place: (id, owner) => this.#place(id, owner),
      open: (id, parts) => this.#boxOf(id, { ...parts, config: { egress_path: egressOfForkable }, isHeld: true }),
    };
  }

  /** By their paths in the box. Those of the server have other places in another run of it. */
  #ownFolders(files: InstanceFiles): OwnFolders {
    const { locales, readOnly } = this.#contents;
    return {
      "/etc": this.#options.etc.path,
      ...Object.fromEntries(readOnly.map(({ from, to }) => [to, from])),
      [inside.policies]: policiesOf(files),
      [inside.sockets]: files.sockets,
      ...(locales !== undefined && { [locales]: localesOf(files) }),
    };
  }

  get #forkableBytes(): number {
    return this.#options.diskBytes ?? defaultForkableBytes;
  }

  #filterOf(forkable: boolean): Buffer | undefined {
    return forkable ? this.#storableFilter : this.#filter;
  }

  #configOf(
    id: string,
    {
      files,
      forkable,
      viewport,
    }: { readonly files: InstanceFiles; readonly forkable: boolean; readonly viewport: Viewport },
  ): InstanceConfig {
    const { chromium, support } = this.#options;
    const { browser, fullBrowser, hasCache } = this.#contents;
    // CRIU cannot store nested namespaces.
    const inner_sandbox = support.nestedUsers && !forkable;
    return {
      instance_id: id,
      ...(forkable
        ? {
            remote: { service_pin: this.#identity().pin, reborn_path: `${inside.sockets}/${rebornFile}` },
            egress_path: egressOfForkable,
          }
        : {
            listen_path: `${inside.state}/${basename(files.instanceSocket)}`,
            egress_path: `${inside.sockets}/${basename(files.egressSocket)}`,
          }),
      root: "/",
      home: homePath,
      session_dir: inside.state,
      chromium: {
        executable: browser,
        kind: chromium.kind,
        inner_sandbox,
        ...(fullBrowser !== undefined && { full: { executable: fullBrowser, inner_sandbox } }),
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
      forkable,
    }: {
      readonly forkable: boolean;
      readonly files: InstanceFiles;
      readonly owner: number | undefined;
      readonly memory: MemoryGroup | undefined;
    },
  ): { readonly command: readonly [program: string, ...rest: string[]]; readonly options: Buffer } {
    const { diskBytes, etc, support } = this.#options;
    const { hasLoader, locales, readOnly, startProgram } = this.#contents;
    const bytes = forkable ? this.#forkableBytes : diskBytes;
    const memoryFiles = bytes === undefined ? undefined : { bytes, folders: writableFolders, mounted: support.mounts };
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
          ...(locales === undefined ? [] : [{ from: localesOf(files), to: locales }]),
        ],
        writable: memoryFiles === undefined ? [{ from: files.state, to: inside.state }] : [],
        owner,
        nestedUsers: support.nestedUsers && !forkable,
        isForkable: forkable,
        ...(forkable && { maxProcesses: maxProcessesOfRelatives, loader: hasLoader ? inside.loader : undefined }),
        hasInterface: support.interfaces,
        infoFd: sandboxDescriptors.info,
        ...(this.#filterOf(forkable) !== undefined && { filterFd: sandboxDescriptors.filter }),
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

function lazily<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
