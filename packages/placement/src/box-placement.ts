import { type AssignInstance } from "@shoal/instance";
import type { BoxMaker } from "./boxes/box.ts";
import type { ProgramMaker } from "./boxes/program.ts";
import { type SessionFolders } from "./boxes/session-folders.ts";
import { SharedBrowsers } from "./shared-browsers/shared-browsers.ts";
import { type EgressGateway } from "./egress/gateway.ts";
import { type Freezers } from "./host/freezer.ts";
import { CpuIdle } from "./host/cpu-idle.ts";
import { prepareInstance } from "./instances/prepare-instance.ts";
import type { InstanceHandle } from "./instances/instance-handle.ts";
import { StoredInstance } from "./instances/stored-instance.ts";
import { startInstance } from "./instances/start-instance.ts";
import { WarmPool } from "./instances/warm-pool.ts";
import { AutoWarmSize, FixedWarmSize, type WarmSizing } from "./instances/warm-sizing.ts";
import type { EgressTraffic } from "./interface/egress.ts";
import type { PlacementSleep } from "./interface/sleep.ts";
import type {
  CopyNeeds,
  InstanceCopy,
  PackedCopy,
  Placement,
  PlacementAbilities,
  PlacementKind,
  PlacementMemory,
  PlacementOptions,
  SessionSurroundings,
  UnpackWishes,
  WarmInstances,
} from "./interface/placement.ts";
import { PlacementError } from "./interface/placement-error.ts";
import type { ProgramBox, ProgramOptions } from "./interface/program.ts";
import { startProgram } from "./programs/start-program.ts";
import { anySignal } from "@shoal/primitives";
import { statfs } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";

const quietMs = 500;
/** Bytes. With less free space, browsers fail in obscure ways. */
const leastFreeBytes = 256 * 2 ** 20;

export interface Boxes {
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

interface LocalParts extends Omit<Boxes, "abilities"> {
  readonly abilities: PlacementAbilities;
  readonly folders: SessionFolders;
  readonly gateway: EgressGateway;
  readonly readyMs: number;
  readonly sharedIdleMs: number | undefined;
}

/** Sessions and programs in the boxes of one kind. */
export class BoxPlacement implements Placement {
  readonly kind: PlacementKind;
  readonly abilities: PlacementAbilities;
  readonly memory: PlacementMemory;
  readonly sleep: PlacementSleep;
  readonly unforkableBecause: string | undefined;
  readonly copiesProgramFiles: boolean;
  readonly #folders: SessionFolders;
  readonly #closeMaker: (() => Promise<void>) | undefined;
  readonly #gateway: EgressGateway;
  readonly #pool: WarmPool<InstanceHandle>;
  readonly #contexts: SharedBrowsers;
  readonly #maker: BoxMaker;
  readonly #onCopy: (copy: Promise<StoredInstance>) => void;
  /** A forkable instance, or a copy of one. */
  readonly #start: (from: BoxMaker | undefined, signal: AbortSignal) => Promise<InstanceHandle>;
  readonly #starts = new Set<Promise<unknown>>();
  readonly #copies = new Set<Promise<StoredInstance>>();
  readonly #stopStarts = new AbortController();
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
    this.unforkableBecause = unforkableBecause(maker);
    this.#maker = maker;
    const onCopy = (this.#onCopy = (copy: Promise<StoredInstance>): void => {
      this.#copies.add(copy);
      const forget = (): boolean => this.#copies.delete(copy);
      copy.then((stored) => stored.dropped).then(forget, forget);
    });
    this.#start = (from, signal) =>
      this.#track(startInstance(from ?? maker, { log, readyMs, wishes: { forkable: true }, onCopy }, signal));
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
      const wasWaiting = this.#isWaiting(surroundings);
      const handle = await this.#take(surroundings, signal);
      handle.wasWarm = wasWaiting;
      try {
        await prepareInstance(handle, surroundings);
        handle.letOut();
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

  #isWaiting({ copyOf, forkable, isolation, project }: SessionSurroundings): boolean {
    if (copyOf !== undefined || forkable === true) return false;
    return isolation === "context" ? this.#contexts.hasRoom(project) : this.#pool.hasWaiting;
  }

  #take(surroundings: SessionSurroundings, signal?: AbortSignal): Promise<InstanceHandle> {
    const { copyOf, forkable, isolation, project } = surroundings;
    if (copyOf === undefined && forkable !== true)
      return isolation === "context" ? this.#contexts.open(project, signal) : this.#pool.take(signal);
    const why = this.unforkableBecause;
    if (why !== undefined) return Promise.reject(new PlacementError("bad_option", `forkable: ${why}`));
    if (this.#isClosing()) return Promise.reject(closedError());
    const stop = this.#stopStarts.signal;
    return this.#start(
      copyOf instanceof StoredInstance ? copyOf : undefined,
      signal === undefined ? stop : anySignal([signal, stop]),
    );
  }

  /** `close` waits for it. */
  async #track<T>(start: Promise<T>): Promise<T> {
    this.#starts.add(start);
    try {
      return await start;
    } finally {
      this.#starts.delete(start);
    }
  }

  async copyNeeds(): Promise<CopyNeeds> {
    this.#requireCopies();
    return (await this.#maker.copyNeeds?.()) ?? {};
  }

  async unpack(open: () => Promise<PackedCopy>, { project, signal }: UnpackWishes): Promise<InstanceCopy> {
    this.#requireCopies();
    if (this.#isClosing()) throw closedError();
    const { kind } = this;
    const wishes = { project, signal: anySignal([signal, this.#stopStarts.signal]) };
    const unpacked = this.#maker.unpack?.(open, wishes).then((stored) => new StoredInstance(kind, stored));
    if (unpacked === undefined) throw new PlacementError("bad_option", "Sessions of this placement cannot be copied.");
    this.#onCopy(unpacked);
    return unpacked;
  }

  #requireCopies(): void {
    if (this.unforkableBecause !== undefined) throw new PlacementError("bad_option", this.unforkableBecause);
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
    this.#stopStarts.abort(closedError());
    await Promise.allSettled(this.#starts);
    await Promise.all([this.#pool.close(), ...[...this.#sessions, ...this.#programs].map((each) => each.stop())]);
    await this.#contexts.close();
    await this.#closeMaker?.();
    // Their images contain secrets, and no other server may start here.
    await Promise.allSettled([...this.#copies].map(async (copy) => (await copy).drop()));
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

function unforkableBecause({ kind, unforkableBecause: reason }: BoxMaker): string | undefined {
  if (kind === "sandbox") return reason;
  return `Only sessions in a sandbox can be copied, and this server starts them with the placement ${kind}.`;
}

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
