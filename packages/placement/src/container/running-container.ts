import type { Exit } from "../boxes/box.ts";
import { PlacementError } from "../interface/placement-error.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { type ContainerEngine, EngineError, explainEngine } from "./engine.ts";
import { messageOf } from "@shoal/primitives";
import { setTimeout as sleep } from "node:timers/promises";

export interface RunningContainerParts {
  readonly engine: ContainerEngine;
  /** The engine's id. */
  readonly container: string;
  readonly instanceId: string;
  readonly log: PlacementLog;
}

const removeAttempts = 5;
const removeEveryMs = 1_000;

/** The life of the container of one instance. The kernel ends all its processes together. */
export class RunningContainer {
  readonly #parts: RunningContainerParts;

  constructor(parts: RunningContainerParts) {
    this.#parts = parts;
  }

  kill(): void {
    const { container, engine } = this.#parts;
    engine.kill(container).catch(() => {
      // It has just ended, or the engine does not answer: then `ended` removes it.
    });
  }

  /** @throws {PlacementError} */
  async setMemory(bytes: number): Promise<void> {
    const { container, engine, instanceId } = this.#parts;
    try {
      await engine.setMemory(container, bytes);
    } catch (error) {
      const explained = explainEngine(error);
      if (PlacementError.isInstance(explained)) throw explained;
      const isGone = error instanceof EngineError && error.status === 404;
      throw new PlacementError(
        isGone ? "instance_lost" : "start_failed",
        isGone
          ? `Instance ${instanceId} has ended.`
          : `The container engine refuses to limit the memory of an instance to ${String(bytes)} bytes: ${messageOf(error)}.`,
        { cause: error },
      );
    }
  }

  /** Resolves when it has ended and is removed. Call it once. */
  async ended(): Promise<Exit> {
    const { container, engine, instanceId, log } = this.#parts;
    let code: number | null = null;
    let reason: string | undefined;
    try {
      code = await engine.ended(container);
    } catch (error) {
      log.warn({ instance_id: instanceId, error: messageOf(error) }, "Cannot follow a container; it is removed.");
      if (error instanceof EngineError && error.status === undefined) reason = error.message;
    }
    await this.#remove();
    return { code, signal: null, ...(reason !== undefined && { reason }) };
  }

  async #remove(): Promise<void> {
    const { container, engine, instanceId, log } = this.#parts;
    for (let attempt = 1; ; attempt++) {
      try {
        await engine.remove(container);
        return;
      } catch (error) {
        if (attempt < removeAttempts) await sleep(removeEveryMs);
        else {
          const fields = { instance_id: instanceId, container, error: messageOf(error) };
          log.error(fields, "Cannot remove a container. The next start of the server tries again.");
          return;
        }
      }
    }
  }
}
