import { anySignal, messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { PlaywrightExecutor, PlaywrightResult } from "@shoal/schemas";
import type { CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import { Turns } from "../../system/turns.ts";
import type { CodeExecutor, PlaywrightRunner } from "./playwright-runner.ts";
import { maxWaiting } from "./playwright-runner.ts";

const maxNamed = 8;
export const defaultExecutor = "default";

export interface ExecutorCall {
  readonly code: string;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

class Executor implements CodeExecutor {
  readonly name: string;
  readonly createdAt = new Date();
  lastUsedAt = this.createdAt;
  /** They run or wait. */
  readonly calls = new Set<Promise<unknown>>();
  targetId: string | undefined;
  readonly #deletion = new AbortController();
  /** Named executors run one call at once. */
  readonly turns: Turns | undefined;
  readonly #stops = new Set<(reason: string) => void>();

  constructor(name: string) {
    this.name = name;
    this.turns = name === defaultExecutor ? undefined : new Turns({ running: 1, waiting: maxWaiting });
  }

  get own() {
    return this.turns && { targetId: this.targetId };
  }

  get deleted(): AbortSignal {
    return this.#deletion.signal;
  }

  onRun(stop: (reason: string) => void): () => void {
    this.#stops.add(stop);
    return () => this.#stops.delete(stop);
  }

  onTab({ targetId }: { readonly targetId: string }): void {
    this.targetId = targetId;
  }

  stopRunning(reason: string): void {
    for (const stop of this.#stops) stop(reason);
  }

  delete(reason: string): void {
    this.#deletion.abort(new Error(reason));
    this.stopRunning(reason);
  }
}

/** Names under which code keeps a tab between calls. */
export class Executors {
  readonly #cdp: () => Promise<Pick<CdpConnection, "send">>;
  readonly #default = new Executor(defaultExecutor);
  readonly #named = new Map<string, Executor>();

  constructor(cdp: () => Promise<Pick<CdpConnection, "send">>) {
    this.#cdp = cdp;
  }

  /** @throws {ServiceError} 409 at the limit of executors, and everything that the runner throws. */
  async run(
    runner: Pick<PlaywrightRunner, "run">,
    name: string | undefined,
    call: ExecutorCall,
  ): Promise<PlaywrightResult> {
    const executor = name === undefined || name === defaultExecutor ? this.#default : await this.#of(name);
    executor.lastUsedAt = new Date();
    if (executor.turns?.isFull === true)
      throw new ServiceError(
        429,
        "too_many_requests",
        `A call of the executor ${executor.name} runs and ${String(maxWaiting)} wait, the limits.`,
        { limit: maxWaiting, hint: "Wait for one to end.", retryAfterSeconds: 1 },
      );
    const running = this.#inTurn(runner, executor, call);
    executor.calls.add(running);
    try {
      return await running;
    } catch (error) {
      const { deleted } = executor;
      if (deleted.aborted && error === deleted.reason) return { success: false, error: messageOf(error) };
      throw error;
    } finally {
      executor.calls.delete(running);
    }
  }

  async #inTurn(runner: Pick<PlaywrightRunner, "run">, executor: Executor, call: ExecutorCall) {
    const endTurn = await executor.turns?.take(anySignal([call.signal, executor.deleted]));
    try {
      return await runner.run({ ...call, executor, taken: () => this.#tabs() });
    } finally {
      endTurn?.();
    }
  }

  /** Of named executors. */
  #tabs(): string[] {
    return [...this.#named.values()].flatMap(({ targetId }) => targetId ?? []);
  }

  async list(): Promise<PlaywrightExecutor[]> {
    const urls = await this.#urls();
    return [this.#default, ...this.#named.values()].map(({ calls, createdAt, lastUsedAt, name, targetId = "" }) => {
      const url = name === defaultExecutor ? undefined : urls.get(targetId);
      return {
        name,
        busy: calls.size > 0,
        created_at: createdAt.toISOString(),
        last_used_at: lastUsedAt.toISOString(),
        ...(url !== undefined && { target_id: targetId, url }),
      };
    });
  }

  /** @throws {ServiceError} 404 for an unknown name; the signal's reason when it is aborted before the tab is closed. */
  async delete(name: string, closeTab: boolean, signal: AbortSignal): Promise<void> {
    if (name === defaultExecutor) {
      this.#default.stopRunning("The executor default was restarted, which ended its running calls.");
      return;
    }
    const executor = this.#named.get(name);
    if (executor === undefined)
      throw new ServiceError(404, "not_found", `The session has no executor ${name}.`, {
        hint: "List them with browsers.playwright.executors.list.",
      });
    this.#named.delete(name);
    executor.delete(`The executor ${name} was deleted, which ended its calls.`);
    if (!closeTab) return;
    // The first one may be opening the tab.
    await Promise.allSettled(executor.calls);
    signal.throwIfAborted();
    const { targetId } = executor;
    if (targetId === undefined) return;
    // The tab, or the browser, may have ended.
    const cdp = await this.#cdp().catch(() => undefined);
    await cdp?.send("Target.closeTarget", { targetId }).catch(() => undefined);
  }

  async #of(name: string): Promise<Executor> {
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    if (this.#named.size >= maxNamed) {
      const names = [...this.#named.keys()].join(", ");
      throw new ServiceError(409, "conflict", `The session has ${String(maxNamed)} named executors, the limit.`, {
        limit: maxNamed,
        hint: `Delete one: ${names}.`,
        fields: { executors: await this.list() },
      });
    }
    const created = new Executor(name);
    this.#named.set(name, created);
    return created;
  }

  /** Of the open pages, by their targets. Empty while the browser does not run. */
  async #urls(): Promise<ReadonlyMap<string, string>> {
    try {
      const { targetInfos } = await (await this.#cdp()).send("Target.getTargets");
      return new Map(targetInfos.map(({ targetId, url }) => [targetId, url]));
    } catch {
      return new Map();
    }
  }
}
