import { type Database, outageOf } from "@shoal/database";
import { messageOf } from "@shoal/primitives";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../../log/log.ts";
import { Lookout } from "../../work/lookout.ts";
import { hasBlob } from "../../storage/blobs/blobs.ts";
import type { AppLogs } from "../logs/app-logs.ts";
import { BuildError, type BuiltApp } from "../runtime/app-runtime.ts";
import { Build, type BuildParts } from "./build.ts";
import type { ClaimedBuild, NotPublished } from "./build-queue.ts";

export interface BuilderParts extends BuildParts {
  readonly database: Pick<Database, "onChange" | "query">;
  readonly logs: AppLogs;
  /** Builds at the same time. */
  readonly concurrency: number;
  /** Called when a deployment that was built here runs. */
  readonly onRunning: (deploymentId: string) => void;
  readonly log: Log;
}

const lookEveryMs = 5000;
const retryMs = 1000;
/** A build that takes its server down must not do so forever. */
const maxAttempts = 3;

interface Running {
  readonly stop: AbortController;
  readonly done: Promise<void>;
}

/** Builds queued deployments on this server. */
export class Builder {
  readonly #parts: BuilderParts;
  readonly #running = new Map<string, Running>();
  readonly #closing = new AbortController();
  readonly #stopListening: () => void;
  readonly #lookout: Lookout;

  constructor(parts: BuilderParts) {
    this.#parts = parts;
    this.#stopListening = parts.database.onChange((change) => {
      if (change === undefined) this.look();
      else if (change.table === "deployments") this.#onChange(change.id);
    });
    this.#lookout = new Lookout({
      everyMs: lookEveryMs,
      look: () => this.#claimSome(),
      log: parts.log,
      problem: "cannot read the queue of builds",
    });
    this.look();
  }

  /** Claims builds until none waits or enough run. */
  look(): void {
    this.#lookout.look();
  }

  /** Returns running builds to the queue. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#stopListening();
    await this.#lookout.close();
    const running = [...this.#running.values()];
    for (const { stop } of running) stop.abort();
    await Promise.all(running.map(({ done }) => done));
  }

  #onChange(id: string): void {
    const running = this.#running.get(id);
    if (running === undefined) this.look();
    else void this.#stopIfDeleted(id, running);
  }

  async #stopIfDeleted(id: string, { stop }: Running): Promise<void> {
    const row = await this.#parts.store.find(id).catch(() => undefined);
    if (row?.deleted_at != null) stop.abort();
  }

  async #claimSome(): Promise<void> {
    const { blobs } = this.#parts;
    while (this.#running.size < this.#parts.concurrency && !this.#closing.signal.aborted) {
      const claimed = await this.#parts.queue.claim([...this.#running.keys()], (blob) => hasBlob(blobs, blob));
      if (claimed === undefined) return;
      const stop = new AbortController();
      const done = this.#run(claimed, stop.signal).finally(() => {
        this.#running.delete(claimed.id);
        this.look();
      });
      this.#running.set(claimed.id, { stop, done });
    }
  }

  /** Never rejects. */
  async #run(claimed: ClaimedBuild, signal: AbortSignal): Promise<void> {
    const { log, logs, onRunning, runtime } = this.#parts;
    const writer = logs.writer({ deployment_id: claimed.id });
    const build = new Build(this.#parts, { claimed, writer, signal });
    try {
      if (claimed.attempts > maxAttempts)
        throw new BuildError(`The build was interrupted ${String(maxAttempts)} times, because its server stopped.`);
      if (claimed.attempts > 1) build.say("The server stopped during the build. It begins again.");
      const built = await build.run();
      await writer.end();
      const runs = await this.#publish(claimed, built);
      if (runs === true) onRunning(claimed.id);
      else if (runs === false) await runtime.remove(built.artifact);
    } catch (error) {
      await writer.end();
      await this.#settle(() => this.#close(claimed, { error, signal })).catch((cause: unknown) => {
        log.error({ deployment: claimed.id, err: cause }, "the end of a build could not be stored");
      });
      if (!signal.aborted && !BuildError.isInstance(error))
        log.error({ deployment: claimed.id, err: error }, "a build failed because of the service");
    }
    await this.#dropSource(claimed, build.sourceBlob);
  }

  /** @returns whether the deployment runs now; `undefined` if that is unknown. @throws {BuildError} */
  async #publish(claimed: ClaimedBuild, built: BuiltApp): Promise<boolean | undefined> {
    const { log, queue, runtime } = this.#parts;
    try {
      return await this.#settle(() => queue.publish(claimed, built));
    } catch (error) {
      await runtime.remove(built.artifact);
      if (BuildError.isInstance(error)) throw error;
      log.error({ deployment: claimed.id, err: error }, "the versions of a deployment could not be stored");
      throw new BuildError(`The app was built, but its versions could not be stored: ${messageOf(error)}.`, {
        cause: error,
      });
    }
  }

  #close(
    claimed: ClaimedBuild,
    { error, signal }: { readonly error: unknown; readonly signal: AbortSignal },
  ): Promise<void> {
    const { queue } = this.#parts;
    // A deleted deployment does not belong to this server any more, so this changes nothing.
    return signal.aborted ? queue.putBack(claimed) : queue.end(claimed, failure(error));
  }

  /** Repeats during an outage of the database. @returns `undefined` when this server stops meanwhile; another one builds again. */
  async #settle<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (outageOf(error) === undefined) throw error;
        this.#parts.log.warn({ err: error }, "the end of a build could not be stored during an outage");
        if (this.#closing.signal.aborted) return undefined;
        await delay(retryMs, undefined, { signal: this.#closing.signal }).catch(() => undefined);
      }
    }
  }

  /** A sweep removes archives that stay. */
  async #dropSource({ id }: ClaimedBuild, blob: string | undefined): Promise<void> {
    if (blob === undefined) return;
    const { blobs, log, store } = this.#parts;
    try {
      if (!(await store.needsBlob(id, blob))) await blobs.delete(blob);
    } catch (error) {
      log.warn({ deployment: id, err: error }, "the archive of a deployment could not be deleted");
    }
  }
}

function failure(error: unknown): NotPublished {
  return {
    status: "failed",
    status_reason: BuildError.isInstance(error)
      ? error.message
      : "The build failed because of an error in the service. Deploy again; the operator finds the cause in the log.",
  };
}
