import { type AssignInstance, instanceNativeFiles, instanceProgramPath } from "@shoal/instance";
import { installProgram } from "./boxes/installed-program.ts";
import type { BoxMaker } from "./boxes/box.ts";
import type { ProgramMaker } from "./boxes/program.ts";
import { openSessionFolders, type SessionFolders } from "./boxes/session-folders.ts";
import { type LocatedChromium, locateChromium, locateFullChromium } from "./chromium/find-chromium.ts";
import { createContainers } from "./container/create-containers.ts";
import { SharedBrowsers } from "./shared-browsers/shared-browsers.ts";
import type { ImageContents } from "./image/image-contents.ts";
import { createEgressGateway, type EgressGateway } from "./egress/gateway.ts";
import { findFreezers, type Freezers, thawAbandoned } from "./host/freezer.ts";
import { findMemoryGroups } from "./host/memory-groups.ts";
import { CpuIdle } from "./host/cpu-idle.ts";
import { canTrustAuthorities, findTool } from "./host/tools.ts";
import { prepareInstance } from "./instances/prepare-instance.ts";
import type { InstanceHandle } from "./instances/instance-handle.ts";
import { startInstance } from "./instances/start-instance.ts";
import { WarmPool } from "./instances/warm-pool.ts";
import { AutoWarmSize, FixedWarmSize, type WarmSizing } from "./instances/warm-sizing.ts";
import type { EgressTraffic } from "./interface/egress.ts";
import type { PlacementSleep } from "./interface/sleep.ts";
import type {
  Placement,
  PlacementAbilities,
  PlacementKind,
  PlacementMemory,
  PlacementOptions,
  SessionSurroundings,
  WarmInstances,
} from "./interface/placement.ts";
import { PlacementError } from "./interface/placement-error.ts";
import type { ProgramBox, ProgramOptions } from "./interface/program.ts";
import { createLocalAddresses } from "./policy/local-addresses.ts";
import { createEgressPolicy, type EgressPolicy, type ResolveName } from "./policy/egress-policy.ts";
import { createNameResolver } from "./policy/resolve-name.ts";
import { createProcessBoxes } from "./process/process-box.ts";
import { ProcessProgramMaker } from "./process/process-program-maker.ts";
import { processSandboxWorks } from "./process/support.ts";
import { NoPrograms } from "./programs/no-programs.ts";
import { RemoteProgramMaker } from "./programs/remote-program-maker.ts";
import { startProgram } from "./programs/start-program.ts";
import { makeSandboxEtc } from "./sandbox/etc.ts";
import { createSandboxBoxes, policiesInside } from "./sandbox/sandbox-box-maker.ts";
import { SandboxProgramMaker } from "./sandbox/sandbox-program-maker.ts";
import { examineSandbox, type SandboxSupport } from "./sandbox/support.ts";
import { statfs } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";
import { join, resolve } from "node:path";

/** Milliseconds, in which a cluster may also add a node. */
const podReadyMs = 120_000;
const quietMs = 500;
/** Bytes. With less free space, browsers fail in obscure ways. */
const leastFreeBytes = 256 * 2 ** 20;

/** @throws {PlacementError} `no_chromium`, `no_isolation` (only if `kind` is `sandbox`), `bad_option`. */
export function createPlacement(options: PlacementOptions): Promise<Placement> {
  return createPlacementWith(options, {
    resolveName: createNameResolver(),
    programPath: instanceProgramPath,
    readyMs: options.kind === "kubernetes" ? podReadyMs : 30_000,
  });
}

export interface PlacementParts {
  readonly resolveName: ResolveName;
  readonly programPath: string;
  readonly readyMs: number;
  /** `host:port` that pods must not reach; by default the API server. */
  readonly closed?: readonly string[];
  /** Milliseconds until a shared browser without sessions ends. */
  readonly sharedIdleMs?: number;
  /** What bubblewrap can do here; examined by default. */
  readonly sandbox?: SandboxSupport;
}

export async function createPlacementWith(
  options: PlacementOptions,
  { closed, resolveName, programPath, readyMs, sandbox, sharedIdleMs }: PlacementParts,
): Promise<Placement> {
  const policy = createEgressPolicy(
    options.allowPrivateHosts,
    resolveName,
    createLocalAddresses({ otherServers: options.otherServers }),
  );
  const browsers = options.kind === "docker" || options.kind === "kubernetes" ? undefined : await findBrowsers(options);
  const support = options.kind === "process" ? undefined : (sandbox ?? (await examineSandbox()));
  if (options.kind === "sandbox" && support?.works === false)
    throw new PlacementError("no_isolation", `Cannot create a sandbox. ${support.reason} ${support.advice}`);

  // Before the sweep of folders, which waits for the processes of killed servers.
  await thawAbandoned();
  const folders = await openSessionFolders(options.sessionsDir, options.log);
  const gateway = createEgressGateway(options.log, options.egressLimits);
  try {
    const parts = { folders, gateway, policy, support, programPath, resolveName, readyMs, closed };
    const made =
      browsers === undefined ? await makeRemote(options, parts) : await makeBoxes(options, { ...parts, browsers });
    const abilities = { ...made.abilities, privateHosts: options.allowPrivateHosts.length > 0 };
    return new BoxPlacement(options, { ...made, abilities, folders, gateway, readyMs, sharedIdleMs });
  } catch (error) {
    await folders.close();
    throw error;
  }
}

interface Browsers {
  readonly chromium: LocatedChromium;
  readonly full: LocatedChromium | undefined;
}

async function findBrowsers(options: PlacementOptions): Promise<Browsers> {
  const chromium = await locateChromium(options.chromium);
  if (chromium === undefined)
    throw new PlacementError(
      "no_chromium",
      "No Chromium was found. Install one (apt-get install chromium-headless-shell, or Google Chrome), or download one: npx @puppeteer/browsers install chrome-headless-shell@stable.",
    );
  return { chromium, full: chromium.kind === "chrome" ? undefined : await locateFullChromium() };
}

interface BoxParts {
  readonly folders: SessionFolders;
  readonly gateway: EgressGateway;
  readonly policy: EgressPolicy;
  readonly support: SandboxSupport | undefined;
  readonly programPath: string;
  readonly resolveName: ResolveName;
  readonly readyMs: number;
  readonly closed: readonly string[] | undefined;
}

interface Boxes {
  readonly maker: BoxMaker;
  readonly programs: ProgramMaker;
  readonly limitsMemory: boolean;
  readonly freezers: Freezers | undefined;
  /** Sessions run on other machines. */
  readonly isElsewhere?: boolean;
  readonly abilities: Omit<PlacementAbilities, "privateHosts">;
  /** Calls it after the last box is gone. */
  readonly close?: () => Promise<void>;
}

function makeRemote(options: PlacementOptions, parts: BoxParts): Promise<Boxes> {
  return options.kind === "kubernetes" ? makePods(options, parts) : makeContainers(options, parts);
}

async function makePods(
  options: PlacementOptions,
  { closed, folders, gateway, policy, programPath, readyMs, resolveName }: BoxParts,
): Promise<Boxes> {
  const { createPods } = await import("./kubernetes/create-pods.ts");
  const { close, contents, maker } = await createPods({
    ...{ folders, gateway, policy, programPath, closed, startMs: readyMs, log: options.log },
    kubernetes: options.kubernetes,
    memoryBytes: options.sessionMemoryBytes,
    diskBytes: options.sessionDiskBytes,
  });
  return {
    maker,
    close,
    programs: new RemoteProgramMaker({
      ...{ folders, gateway, policy, resolveName, maker, readyMs, log: options.log },
      node: contents.node,
    }),
    limitsMemory: true,
    freezers: undefined,
    isElsewhere: true,
    abilities: { ...imageAbilities(contents), policies: false, contexts: false, closedNetwork: true },
  };
}

function imageAbilities({
  authorities,
  chromium,
  full,
  windows,
}: ImageContents): Pick<PlacementAbilities, "fullChromium" | "windows" | "authorities"> {
  return { fullChromium: chromium.kind === "chrome" || full !== undefined, windows, authorities };
}

async function makeContainers(
  options: PlacementOptions,
  { folders, gateway, policy, support, programPath, readyMs, resolveName }: BoxParts,
): Promise<Boxes> {
  const { docker, log, sessionsDir } = options;
  const { close, contents, isRemote, maker, programs } = await createContainers({
    ...{ docker, folders, gateway, log, policy, programPath, resolveName, sessionsDir },
    memoryBytes: options.sessionMemoryBytes,
    diskBytes: options.sessionDiskBytes,
  });
  return {
    maker,
    close,
    programs: isRemote
      ? new RemoteProgramMaker({ folders, gateway, policy, resolveName, maker, readyMs, log, node: contents.node })
      : await localPrograms({ folders, gateway, policy, support, resolveName }, programs),
    limitsMemory: true,
    freezers: undefined,
    isElsewhere: isRemote,
    abilities: { ...imageAbilities(contents), policies: !isRemote, contexts: false, closedNetwork: true },
  };
}

/** Apps start faster in the sandbox of this machine than in its containers. */
async function localPrograms(
  { support, ...parts }: Pick<BoxParts, "folders" | "gateway" | "policy" | "support" | "resolveName">,
  containers: ProgramMaker | undefined,
): Promise<ProgramMaker> {
  if (support?.works !== true) {
    if (containers !== undefined) return containers;
    return new NoPrograms(
      `its machine has no sandbox (${support?.reason ?? ""}), and containers cannot run them, because the service does not run as root: they would have another user than its files.`,
    );
  }
  const etc = await makeSandboxEtc(join(parts.folders.runtimeDir, "etc"), policiesInside);
  return new SandboxProgramMaker({ ...parts, support, etc, memory: undefined });
}

async function makeBoxes(
  options: PlacementOptions,
  { folders, gateway, policy, browsers, support, programPath, resolveName }: BoxParts & { readonly browsers: Browsers },
): Promise<Boxes> {
  const { log } = options;
  const abilities = {
    fullChromium: browsers.chromium.kind === "chrome" || browsers.full !== undefined,
    policies: support?.works === true,
    authorities: await canTrustAuthorities(),
    windows: (await findTool("Xvfb")) !== undefined,
    contexts: process.platform !== "win32",
    closedNetwork: support?.works === true,
  };
  const cacheParent = resolve(options.sessionsDir);
  const program = await installProgram(programPath, cacheParent, instanceNativeFiles());
  const common = { folders, gateway, policy, program, cacheParent, log };
  if (support?.works === true) {
    const etc = await makeSandboxEtc(join(folders.runtimeDir, "etc"), policiesInside);
    const memory = await findMemoryGroups(options.sessionMemoryBytes, log);
    const freezers = memory && (await findFreezers(memory, log));
    warnAboutSandbox(options, support, memory !== undefined);
    const maker = await createSandboxBoxes({
      ...common,
      ...browsers,
      support,
      etc,
      memory,
      freezers,
      diskBytes: options.sessionDiskBytes,
    });
    const programs = new SandboxProgramMaker({ folders, gateway, policy, resolveName, support, etc, memory });
    return { maker, programs, limitsMemory: memory !== undefined, freezers, abilities };
  }
  const { chromium, full } = browsers;
  const innerSandbox = await processSandboxWorks(chromium.executable);
  log.warn(
    { reason: support?.reason, advice: support?.advice, inner_sandbox: innerSandbox },
    "Sessions run as plain processes, without isolation: a session can read this user's files and reach this host's network.",
  );
  const maker = await createProcessBoxes({
    ...common,
    chromium: {
      executable: chromium.executable,
      kind: chromium.kind,
      inner_sandbox: innerSandbox,
      ...(full && {
        full: { executable: full.executable, inner_sandbox: await processSandboxWorks(full.executable) },
      }),
    },
  });
  const programs = new ProcessProgramMaker({ folders, gateway, policy, resolveName });
  return { maker, programs, limitsMemory: false, freezers: undefined, abilities };
}

function warnAboutSandbox(
  { log, sessionMemoryBytes, sessionDiskBytes }: PlacementOptions,
  support: SandboxSupport & { readonly works: true },
  limitsMemory: boolean,
): void {
  if (!limitsMemory && sessionMemoryBytes !== undefined)
    log.info(
      { session_memory_bytes: sessionMemoryBytes },
      "The memory of sessions is not limited: this process may not create control groups. Run Shoal as root, or as a systemd service with Delegate=yes.",
    );
  if (!support.mounts && sessionDiskBytes !== undefined)
    log.info(
      {},
      "The number of files of a session is not limited: this user may not mount in a user namespace. The size of its files is limited.",
    );
  if (!support.nestedUsers)
    log.warn(
      {},
      "This host does not allow user namespaces inside a box: Chromium runs without its inner sandbox. The box itself still isolates each session.",
    );
}

interface LocalParts extends Omit<Boxes, "abilities"> {
  readonly abilities: PlacementAbilities;
  readonly folders: SessionFolders;
  readonly gateway: EgressGateway;
  readonly readyMs: number;
  readonly sharedIdleMs: number | undefined;
}

class BoxPlacement implements Placement {
  readonly kind: PlacementKind;
  readonly abilities: PlacementAbilities;
  readonly memory: PlacementMemory;
  readonly sleep: PlacementSleep;
  readonly copiesProgramFiles: boolean;
  readonly #folders: SessionFolders;
  readonly #closeMaker: (() => Promise<void>) | undefined;
  readonly #gateway: EgressGateway;
  readonly #pool: WarmPool<InstanceHandle>;
  readonly #contexts: SharedBrowsers;
  readonly #sessions = new Set<InstanceHandle>();
  readonly #programMaker: ProgramMaker;
  readonly #programs = new Set<ProgramBox>();
  #closing: Promise<void> | undefined;

  constructor({ warm, log, sessionMemoryBytes }: PlacementOptions, parts: LocalParts) {
    const { maker, readyMs, sharedIdleMs: idleMs } = parts;
    this.kind = maker.kind;
    this.abilities = parts.abilities;
    this.memory = memoryOf(maker.kind, parts, sessionMemoryBytes);
    this.sleep = sleepOf(maker.kind, parts.freezers);
    this.copiesProgramFiles = parts.programs.copiesFiles === true;
    this.#folders = parts.folders;
    this.#closeMaker = parts.close;
    this.#gateway = parts.gateway;
    this.#programMaker = parts.programs;
    this.#pool = new WarmPool({
      sizing: warmSizing(parts.isElsewhere === true, warm, this.memory.machineBytes),
      maxStarting: Math.max(4, 2 * availableParallelism()),
      quietMs,
      log,
      start: (signal) => startInstance(maker, { log, readyMs }, signal),
    });
    const take = (): Promise<InstanceHandle> => this.#pool.take();
    this.#contexts = new SharedBrowsers({ kind: maker.kind, log, readyMs, idleMs, take });
  }

  async acquire(
    assign: AssignInstance,
    signal?: AbortSignal,
    surroundings: SessionSurroundings = {},
  ): Promise<InstanceHandle> {
    if (!this.#isClosing()) await this.#checkSpace();
    for (;;) {
      const isShared = surroundings.isolation === "context";
      const wasWaiting = isShared ? this.#contexts.hasRoom(surroundings.project) : this.#pool.hasWaiting;
      const handle = await (isShared ? this.#contexts.open(surroundings.project, signal) : this.#pool.take(signal));
      handle.wasWarm = wasWaiting;
      try {
        await prepareInstance(handle, surroundings);
        await handle.assign(assign, { files: surroundings.files, ...(signal && { signal }) });
        signal?.throwIfAborted();
      } catch (error) {
        await handle.stop();
        signal?.throwIfAborted();
        // A warm instance may have died just now; the next one is likely to work.
        if (wasWaiting && PlacementError.isInstance(error) && error.code === "instance_lost") continue;
        throw error;
      }
      this.#sessions.add(handle);
      void handle.ended.then(() => {
        this.#sessions.delete(handle);
        this.#pool.refill();
      });
      if (this.#isClosing()) {
        await handle.stop();
        throw closedError();
      }
      return handle;
    }
  }

  async startProgram(options: ProgramOptions, signal?: AbortSignal): Promise<ProgramBox> {
    if (this.#isClosing()) throw closedError();
    await this.#checkSpace();
    const box = await startProgram(this.#programMaker, options, signal);
    this.#programs.add(box);
    void box.ended.then(() => this.#programs.delete(box));
    if (this.#isClosing()) {
      await box.stop();
      throw closedError();
    }
    return box;
  }

  traffic(): EgressTraffic {
    return this.#gateway.traffic();
  }

  warm(): WarmInstances {
    return this.#pool.counts();
  }

  warmReady(): Promise<void> {
    return this.#pool.full();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([this.#pool.close(), ...[...this.#sessions, ...this.#programs].map((each) => each.stop())]);
    await this.#contexts.close();
    await this.#closeMaker?.();
    await this.#folders.close();
  }

  /** A method, so that TypeScript does not narrow across an `await`. */
  #isClosing(): boolean {
    return this.#closing !== undefined;
  }

  async #checkSpace(): Promise<void> {
    const { sessionsDir } = this.#folders;
    const { bavail, bsize } = await statfs(sessionsDir);
    const freeBytes = bavail * bsize;
    if (freeBytes < leastFreeBytes)
      throw new PlacementError(
        "no_space",
        `The disk of ${sessionsDir} has ${Math.floor(freeBytes / 2 ** 20)} MB left, and a session needs ${leastFreeBytes / 2 ** 20} MB. End sessions or free disk space.`,
      );
  }
}

function closedError(): PlacementError {
  return new PlacementError("closed", "The placement is closed because the service is shutting down.");
}

function warmSizing(isElsewhere: boolean, warm: PlacementOptions["warm"], machineBytes: number): WarmSizing {
  if (typeof warm === "number") return new FixedWarmSize(warm);
  // The free memory and CPU of this machine say nothing about the others.
  if (isElsewhere) return new FixedWarmSize(1);
  return new AutoWarmSize({
    floor: 1,
    max: warm.max,
    quietMs,
    cpu: new CpuIdle(),
    availableBytes: () => process.availableMemory(),
    machineBytes,
    cores: availableParallelism(),
  });
}

const reasonsAgainstSleep: Readonly<Record<PlacementKind, string>> = {
  process: "Sessions are plain processes, and only sessions in a sandbox can be frozen.",
  kubernetes: "Sessions are pods, and only sessions in a sandbox can be frozen.",
  docker: "Sessions are containers, and only sessions in a sandbox can be frozen.",
  sandbox:
    "The service may not create control groups, which freeze the processes of sessions; run it as root, or as a systemd service with Delegate=yes.",
};

function sleepOf(kind: PlacementKind, freezers: Freezers | undefined): PlacementSleep {
  if (freezers !== undefined) return { pagesOut: freezers.pagesOut };
  return { pagesOut: false, unableBecause: reasonsAgainstSleep[kind] };
}

function memoryOf(
  kind: PlacementKind,
  { isElsewhere, limitsMemory }: Pick<LocalParts, "isElsewhere" | "limitsMemory">,
  limitBytes: number | undefined,
): PlacementMemory {
  // Only the other machines know what they have.
  if (isElsewhere === true && limitsMemory)
    return { machineBytes: Number.MAX_SAFE_INTEGER, usualBytes: limitBytes ?? totalmem() };
  // Node returns 0 without a limit, and possibly more than the machine has.
  const limit = process.constrainedMemory();
  const machineBytes = limit > 0 ? Math.min(totalmem(), limit) : totalmem();
  if (limitsMemory) return { machineBytes, usualBytes: Math.min(limitBytes ?? machineBytes, machineBytes) };
  const why =
    kind === "process"
      ? "Sessions are plain processes without a memory limit; limits need the sandbox placement."
      : "The service may not create control groups, which limit the memory of sessions; run it as root, or as a systemd service with Delegate=yes.";
  return { machineBytes, usualBytes: machineBytes, unlimitedBecause: why };
}
