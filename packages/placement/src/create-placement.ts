import { instanceNativeFiles, instanceProgramPath } from "@shoal/instance";
import { installProgram } from "./boxes/installed-program.ts";
import type { ProgramMaker } from "./boxes/program.ts";
import { openSessionFolders, type SessionFolders } from "./boxes/session-folders.ts";
import { type LocatedChromium, locateChromium, locateFullChromium } from "./chromium/find-chromium.ts";
import { createContainers } from "./container/create-containers.ts";
import type { ImageContents } from "./image/image-contents.ts";
import { EgressGateway } from "./egress/gateway.ts";
import { createMachineProxy } from "./egress/upstream.ts";
import { findFreezers, thawAbandoned } from "./host/freezer.ts";
import { findMemoryGroups } from "./host/memory-groups.ts";
import { canTrustAuthorities, findTool } from "./host/tools.ts";
import type { Placement, PlacementAbilities, PlacementOptions } from "./interface/placement.ts";
import { PlacementError } from "./interface/placement-error.ts";
import { createLocalAddresses } from "./policy/local-addresses.ts";
import { createEgressPolicy, type EgressPolicy, type ResolveName } from "./policy/egress-policy.ts";
import { createNameResolver } from "./policy/resolve-name.ts";
import { createProcessBoxes } from "./process/process-box.ts";
import { ProcessProgramMaker } from "./process/process-program-maker.ts";
import { processSandboxWorks } from "./process/support.ts";
import { NoPrograms } from "./programs/no-programs.ts";
import { RemoteProgramMaker } from "./programs/remote-program-maker.ts";
import { examineForks } from "./sandbox/forkable/examine-forks.ts";
import { removeAbandonedImages } from "./sandbox/forkable/stored-processes.ts";
import { makeSandboxEtc } from "./sandbox/etc.ts";
import { installedLocales } from "./boxes/locales.ts";
import { createSandboxBoxes, policiesInside } from "./sandbox/sandbox-box-maker.ts";
import { SandboxProgramMaker } from "./sandbox/sandbox-program-maker.ts";
import { examineSandbox, type SandboxSupport } from "./sandbox/support.ts";
import { join, resolve } from "node:path";
import { BoxPlacement, type Boxes } from "./box-placement.ts";

/** Milliseconds, in which a cluster may also add a node. */
const podReadyMs = 120_000;

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
  await removeAbandonedImages(options.log);
  const folders = await openSessionFolders(options.sessionsDir, options.log);
  const machine = options.egressProxy && createMachineProxy(options.egressProxy, resolveName);
  const gateway = new EgressGateway(options.log, options.egressLimits, machine);
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
  locales,
  windows,
}: ImageContents): Pick<PlacementAbilities, "authorities" | "fullChromium" | "locales" | "windows"> {
  return { fullChromium: chromium.kind === "chrome" || full !== undefined, windows, authorities, locales };
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
      : await localPrograms({ folders, gateway, policy, support, resolveName, log }, programs),
    limitsMemory: true,
    freezers: undefined,
    isElsewhere: isRemote,
    abilities: { ...imageAbilities(contents), policies: !isRemote, contexts: false, closedNetwork: true },
  };
}

/** Apps start faster in the sandbox of this machine than in its containers. */
async function localPrograms(
  {
    log,
    support,
    ...parts
  }: Pick<BoxParts, "folders" | "gateway" | "policy" | "support" | "resolveName"> & Pick<PlacementOptions, "log">,
  containers: ProgramMaker | undefined,
): Promise<ProgramMaker> {
  if (support?.works !== true) {
    if (containers !== undefined) return containers;
    return new NoPrograms(
      `its machine has no sandbox (${support?.reason ?? ""}), and containers cannot run them, because the service does not run as root: they would have another user than its files.`,
    );
  }
  const etc = await makeSandboxEtc(join(parts.folders.runtimeDir, "etc"), policiesInside);
  return new SandboxProgramMaker({ ...parts, support, etc, memory: await findMemoryGroups(undefined, log) });
}

async function makeBoxes(
  options: PlacementOptions,
  { folders, gateway, policy, browsers, support, programPath, resolveName }: BoxParts & { readonly browsers: Browsers },
): Promise<Boxes> {
  const { log } = options;
  const fullBrowser = browsers.chromium.kind === "chrome" ? browsers.chromium : browsers.full;
  const locales = process.platform === "darwin" ? [] : await installedLocales(fullBrowser?.executable);
  const abilities = {
    fullChromium: fullBrowser !== undefined,
    policies: support?.works === true,
    locales: support?.works === true && locales.length > 0 ? ("all" as const) : locales,
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
      locales,
      unforkableBecause: await examineForks({
        chromium: browsers.chromium,
        support,
        hasMemoryGroups: memory !== undefined,
      }),
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
