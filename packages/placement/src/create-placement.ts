import { findMemoryGroups } from "./memory-groups.ts";
import { type AssignInstance, instanceNativeFiles, instanceProgramPath } from "@shoal/instance";
import type { BoxMaker } from "./box.ts";
import { locateChromium, locateFullChromium } from "./chromium.ts";
import { createEgressGateway } from "./egress-gateway.ts";
import { createEgressPolicy, type ResolveName } from "./egress-policy.ts";
import type { InstanceHandle } from "./instance-handle.ts";
import type { Placement, PlacementKind, PlacementMemory, PlacementOptions, SessionSurroundings } from "./placement.ts";
import { PlacementError } from "./placement-error.ts";
import { installProgram } from "./installed-program.ts";
import { createProcessBoxes } from "./process-box.ts";
import { processSandboxWorks } from "./process-support.ts";
import { createNameResolver } from "./resolve-name.ts";
import { createSandboxBoxes, policiesInside } from "./sandbox-box.ts";
import { makeSandboxEtc } from "./sandbox-etc.ts";
import { canTrustAuthorities, findTool } from "./sandbox-host.ts";
import { examineSandbox } from "./sandbox-support.ts";
import { openSessionFolders } from "./session-folders.ts";
import { startInstance } from "./start-instance.ts";
import { createWarmPool } from "./warm-pool.ts";
import { statfs } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";
import { join, resolve } from "node:path";

/** Its own, because a session that was just served needs the processor for its client's connection and first page. */
const quietMs = 500;
/** Free space, in bytes, below which no session is started: its browser would fail in ways that nobody understands. */
const leastFreeBytes = 256 * 2 ** 20;

/**
 * Makes a placement: removes what a killed server left, and starts the waiting instances in the background.
 *
 * @throws {PlacementError} `no_chromium`, `no_isolation` (only when `kind` is `sandbox`), `bad_option`.
 */
export function createPlacement(options: PlacementOptions): Promise<Placement> {
  return createPlacementWith(options, { resolveName: createNameResolver(), programPath: instanceProgramPath, readyMs: 30_000 });
}

/** What only tests choose. */
export interface PlacementParts {
  /** Resolves the names that pages ask for. */
  readonly resolveName: ResolveName;
  /** The program that serves a session. */
  readonly programPath: string;
  readonly readyMs: number;
}

/** {@link createPlacement} with parts of one's own. */
export async function createPlacementWith(options: PlacementOptions, { resolveName, programPath, readyMs }: PlacementParts): Promise<Placement> {
  const { log } = options;
  const policy = createEgressPolicy(options.allowPrivateHosts, resolveName);
  const chromium = await locateChromium(options.chromium);
  if (chromium === undefined) {
    throw new PlacementError(
      "no_chromium",
      "No Chromium was found. Install one (apt-get install chromium-headless-shell, or Google Chrome), or fetch one: npx @puppeteer/browsers install chrome-headless-shell@stable.",
    );
  }
  const full = chromium.kind === "chrome" ? undefined : await locateFullChromium();
  const support = options.kind === "process" ? undefined : await examineSandbox();
  if (options.kind === "sandbox" && support?.works === false)
    throw new PlacementError("no_isolation", `placement: a sandbox cannot be made. ${support.reason} ${support.advice}`);

  const folders = await openSessionFolders(options.sessionsDir, log);
  const parent = resolve(options.sessionsDir);
  const gateway = createEgressGateway(log, options.egressLimits);
  let maker: BoxMaker;
  let hasGroups = false;
  try {
    const common = { folders, gateway, policy, program: await installProgram(programPath, parent, instanceNativeFiles()), cacheParent: parent, log };
    if (support?.works === true) {
      const etc = await makeSandboxEtc(join(folders.runtimeDir, "etc"), policiesInside);
      const memory = await findMemoryGroups(options.sessionMemoryBytes, log);
      hasGroups = memory !== undefined;
      if (memory === undefined && options.sessionMemoryBytes !== undefined)
        log.info(
          { session_memory_bytes: options.sessionMemoryBytes },
          "The memory of sessions is not limited: this process may not make control groups. Run Shoal as root, or as a service of systemd with Delegate=yes.",
        );
      maker = await createSandboxBoxes({ ...common, support, etc, chromium, full, memory, diskBytes: options.sessionDiskBytes });
      if (!support.mounts && options.sessionDiskBytes !== undefined)
        log.info(
          {},
          "The number of files of a session is not limited: this user may not mount in a user namespace. The bytes of its files are limited.",
        );
      if (!support.nestedUsers)
        log.warn({}, "This host lets no process in a box make user namespaces: Chromium runs without its inner sandbox. The box itself is in force.");
    } else {
      const innerSandbox = await processSandboxWorks(chromium.executable);
      maker = await createProcessBoxes({
        ...common,
        chromium: {
          executable: chromium.executable,
          kind: chromium.kind,
          inner_sandbox: innerSandbox,
          ...(full && { full: { executable: full.executable, inner_sandbox: await processSandboxWorks(full.executable) } }),
        },
      });
      log.warn(
        { reason: support?.reason, advice: support?.advice, inner_sandbox: innerSandbox },
        "Sessions run as plain processes, which isolates nothing: who uses one can read this user's files and reach this host's network.",
      );
    }
  } catch (error) {
    await folders.close();
    throw error;
  }

  const sessions = new Set<InstanceHandle>();
  let closing: Promise<void> | undefined;
  const pool = createWarmPool({
    size: options.warm,
    maxStarting: Math.max(4, 2 * availableParallelism()),
    quietMs,
    log,
    start: (signal) => startInstance(maker, { log, readyMs }, signal),
  });

  async function checkSpace(): Promise<void> {
    const { bavail, bsize } = await statfs(folders.sessionsDir);
    if (bavail * bsize < leastFreeBytes)
      throw new PlacementError(
        "no_space",
        `There are ${Math.floor((bavail * bsize) / 2 ** 20)} MB left on the disk of ${folders.sessionsDir}, and a session needs ${leastFreeBytes / 2 ** 20} MB. End sessions, or make room.`,
      );
  }

  async function acquire(
    assign: AssignInstance,
    signal?: AbortSignal,
    { upstream, policies, privateHosts, memoryBytes, project }: SessionSurroundings = {},
  ): Promise<InstanceHandle> {
    if (closing === undefined) await checkSpace();
    for (;;) {
      const wasWaiting = pool.hasWaiting;
      const handle = await pool.take(signal);
      try {
        // Before the session's first page.
        if (project !== undefined) handle.setProject(project);
        if (upstream !== undefined) handle.setUpstream(upstream);
        if (privateHosts !== undefined) handle.setPrivateHosts(privateHosts);
        if (policies !== undefined) await handle.setPolicies(policies);
        if (memoryBytes !== undefined) await handle.setMemory(memoryBytes);
        await handle.assign(assign, signal);
        signal?.throwIfAborted();
      } catch (error) {
        await handle.stop();
        signal?.throwIfAborted();
        // One that waited may have died just now, and says nothing about the next.
        if (wasWaiting && PlacementError.isInstance(error) && error.code === "instance_lost") continue;
        throw error;
      }
      sessions.add(handle);
      void handle.ended.then(() => {
        sessions.delete(handle);
        pool.refill();
      });
      // The placement was closed meanwhile.
      if (closing !== undefined) {
        await handle.stop();
        throw new PlacementError("closed", "The placement is closed: the service is shutting down.");
      }
      return handle;
    }
  }

  async function close(): Promise<void> {
    await Promise.all([pool.close(), ...[...sessions].map((session) => session.stop())]);
    await folders.close();
  }

  return {
    kind: maker.kind,
    abilities: {
      privateHosts: options.allowPrivateHosts.length > 0,
      fullChromium: chromium.kind === "chrome" || full !== undefined,
      policies: maker.kind === "sandbox",
      authorities: await canTrustAuthorities(),
      windows: (await findTool("Xvfb")) !== undefined,
    },
    memory: memoryOf(maker.kind, hasGroups, options.sessionMemoryBytes),
    acquire,
    traffic: () => gateway.traffic(),
    warmReady: () => pool.full(),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function memoryOf(kind: PlacementKind, hasGroups: boolean, limitBytes: number | undefined): PlacementMemory {
  // Node's own answer is 0 where there is no limit, and larger than the machine where the limit is.
  const limit = process.constrainedMemory();
  const machineBytes = limit > 0 ? Math.min(totalmem(), limit) : totalmem();
  if (hasGroups) return { machineBytes, usualBytes: Math.min(limitBytes ?? machineBytes, machineBytes) };
  const why =
    kind === "process"
      ? "Sessions are plain processes here, whose memory nothing limits: that takes the sandbox placement."
      : "The service may make no control groups here, and without them nothing limits the memory of a session: run it as root, or as a service of systemd with Delegate=yes.";
  return { machineBytes, usualBytes: machineBytes, unlimitedBecause: why };
}
