import type { AppOutput, AppProgram, AppRuntime, LogLine } from "../runtime/app-runtime.ts";
import type { Log } from "../../log/log.ts";
import type { DeployedApps } from "../deployments/deployed-apps.ts";
import type { DeploymentKeys } from "../keys/deployment-keys.ts";

export interface WarmRules {
  /** Programs of this server that wait for an invocation. */
  readonly max: number;
  /** Milliseconds that a program waits. */
  readonly idleMs: number;
  /** With less available memory, programs end unused. */
  readonly freeBytes: number;
}

export interface WarmProgramsParts {
  readonly runtime: Pick<AppRuntime, "start">;
  readonly apps: Pick<DeployedApps, "runnable" | "isRunning">;
  readonly keys: Pick<DeploymentKeys, "secretOf">;
  readonly rules: WarmRules;
  readonly log: Log;
  /** Bytes of memory that programs can use. Default: of this machine or control group. */
  readonly availableBytes?: () => number;
}

interface WarmProgram {
  readonly output: BufferedOutput;
  readonly stop: AbortController;
  readonly started: Promise<AppProgram | undefined>;
  readonly timer: NodeJS.Timeout;
}

/** The start of the next program must not slow down the action that has just begun. */
const refillAfterMs = 200;
const checkMemoryMs = 5_000;
const maxBufferedLines = 1000;
const maxBufferedCharacters = 256 * 1024;

/** Starts programs, and keeps one of each recently used deployment that has imported its entry. */
export class WarmPrograms {
  readonly #parts: WarmProgramsParts;
  /** By deployment, oldest first. */
  readonly #waiting = new Map<string, WarmProgram>();
  readonly #refills = new Map<string, NodeJS.Timeout>();
  readonly #stopping = new Set<Promise<void>>();
  readonly #memoryTimer: NodeJS.Timeout;
  #freeing: Promise<void> | undefined;
  #isClosed = false;

  constructor(parts: WarmProgramsParts) {
    this.#parts = parts;
    this.#memoryTimer = setInterval(() => {
      void this.freeMemory();
    }, checkMemoryMs);
  }

  /** Returns a program for one invocation; the caller stops it. @throws {AppStartError} */
  async take(deploymentId: string, output: AppOutput, signal: AbortSignal): Promise<AppProgram> {
    const waiting = this.#waiting.get(deploymentId);
    if (waiting === undefined) return this.#start(deploymentId, output, signal);
    this.#remove(deploymentId);
    const program = await this.#abortable(waiting, signal);
    if (program === undefined) return this.#start(deploymentId, output, signal);
    waiting.output.connect(output);
    return program;
  }

  /** Prepares the next program of a deployment. */
  refill(deploymentId: string): void {
    if (this.#isClosed || this.#refills.has(deploymentId) || this.#parts.rules.max === 0) return;
    const timer = setTimeout(() => {
      this.#refills.delete(deploymentId);
      this.#warm(deploymentId).catch((error: unknown) => {
        this.#parts.log.debug({ deployment_id: deploymentId, err: error }, "no program of an app could be prepared");
      });
    }, refillAfterMs);
    this.#refills.set(deploymentId, timer);
  }

  /** Deployments with a waiting program. */
  deployments(): readonly string[] {
    return [...this.#waiting.keys()];
  }

  /** Ends waiting programs, least recently used first, until enough memory is available. @returns whether it is. */
  async freeMemory(): Promise<boolean> {
    this.#freeing ??= this.#freeMemory().finally(() => {
      this.#freeing = undefined;
    });
    await this.#freeing;
    return this.#hasMemory();
  }

  drop(deploymentId: string): void {
    const waiting = this.#remove(deploymentId);
    if (waiting === undefined) return;
    waiting.stop.abort();
    const stopped = waiting.started.then((program) => program?.stop());
    this.#stopping.add(stopped);
    void stopped.finally(() => this.#stopping.delete(stopped));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#memoryTimer);
    for (const timer of this.#refills.values()) clearTimeout(timer);
    this.#refills.clear();
    for (const id of this.deployments()) this.drop(id);
    await Promise.allSettled(this.#stopping);
  }

  async #warm(deploymentId: string): Promise<void> {
    const { apps, rules } = this.#parts;
    const isWanted = (await apps.isRunning(deploymentId)) && (await this.freeMemory());
    if (!isWanted || this.#isClosed || this.#waiting.has(deploymentId)) return;
    for (const oldest of this.deployments().slice(0, Math.max(0, this.#waiting.size + 1 - rules.max)))
      this.drop(oldest);
    const output = new BufferedOutput();
    const stop = new AbortController();
    const started = this.#start(deploymentId, output, stop.signal).catch((error: unknown) => {
      if (!stop.signal.aborted)
        this.#parts.log.debug({ deployment_id: deploymentId, err: error }, "a program of an app did not get ready");
      return undefined;
    });
    const timer = setTimeout(() => {
      this.drop(deploymentId);
    }, rules.idleMs);
    const warm: WarmProgram = { output, stop, started, timer };
    this.#waiting.set(deploymentId, warm);
    void started
      .then((program) => program?.ended)
      .then(() => {
        if (this.#waiting.get(deploymentId) === warm) this.drop(deploymentId);
      });
  }

  #hasMemory(): boolean {
    const { availableBytes = () => process.availableMemory(), rules } = this.#parts;
    return availableBytes() >= rules.freeBytes;
  }

  async #freeMemory(): Promise<void> {
    for (const oldest of this.deployments()) {
      if (this.#hasMemory()) return;
      this.drop(oldest);
      await Promise.allSettled(this.#stopping);
    }
  }

  async #start(deploymentId: string, output: AppOutput, signal: AbortSignal): Promise<AppProgram> {
    const { apps, keys, runtime } = this.#parts;
    const app = await apps.runnable(deploymentId);
    if (app === undefined) throw new Error(`Deployment ${deploymentId} was deleted.`);
    signal.throwIfAborted();
    return runtime.start({ ...app, api_key: await keys.secretOf(deploymentId, app.project) }, output, signal);
  }

  async #abortable({ started, stop }: WarmProgram, signal: AbortSignal): Promise<AppProgram | undefined> {
    const abort = (): void => {
      stop.abort();
    };
    signal.addEventListener("abort", abort);
    try {
      const program = await started;
      if (!signal.aborted) return program;
      await program?.stop();
      throw signal.reason;
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  #remove(deploymentId: string): WarmProgram | undefined {
    const waiting = this.#waiting.get(deploymentId);
    if (waiting !== undefined) clearTimeout(waiting.timer);
    this.#waiting.delete(deploymentId);
    return waiting;
  }
}

/** Lines of the import become lines of the invocation that uses the program. */
class BufferedOutput implements AppOutput {
  #target: AppOutput | undefined;
  #lines: LogLine[] = [];
  #characters = 0;
  #dropped = 0;

  line(line: LogLine): void {
    if (this.#target !== undefined) this.#target.line(line);
    else if (this.#lines.length < maxBufferedLines && this.#characters + line.text.length <= maxBufferedCharacters) {
      this.#lines.push(line);
      this.#characters += line.text.length;
    } else this.#dropped += 1;
  }

  connect(target: AppOutput): void {
    this.#target = target;
    for (const line of this.#lines) target.line(line);
    if (this.#dropped > 0) target.line(droppedNote(this.#dropped));
    this.#lines = [];
  }
}

function droppedNote(count: number): LogLine {
  const limit = `the log of an import before its invocation is limited to ${String(maxBufferedLines)} lines and ${String(maxBufferedCharacters / 1024)} KiB`;
  return { source: "stderr", text: `[shoal] ${String(count)} lines were dropped: ${limit}.`, at: new Date() };
}
