import type { Box, Exit } from "../boxes/box.ts";
import type { InstanceFiles } from "../boxes/instance-files.ts";
import { writePolicies } from "../boxes/policies.ts";
import type { EgressControls } from "../interface/egress.ts";
import type { ChromePolicies } from "../interface/placement.ts";
import { PlacementError } from "../interface/placement-error.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import type { AttachedStreams } from "./attached-streams.ts";
import { type ContainerEngine, EngineError } from "./engine.ts";
import { messageOf } from "@shoal/primitives";
import { chmod, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

export interface ContainerBoxParts {
  readonly engine: ContainerEngine;
  readonly container: string;
  readonly pid: number;
  readonly streams: AttachedStreams;
  readonly files: InstanceFiles;
  readonly socketName: string;
  readonly log: PlacementLog;
}

const removeAttempts = 5;
const removeEveryMs = 1_000;

export class ContainerBox implements Box {
  readonly id: string;
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly gone: Promise<Exit>;
  readonly egress: EgressControls;
  /** The kernel ends all processes of a container together. */
  readonly asksToEnd = false;
  readonly #parts: ContainerBoxParts;

  constructor(id: string, parts: ContainerBoxParts) {
    this.id = id;
    this.pid = parts.pid;
    this.stdout = parts.streams.stdout;
    this.stderr = parts.streams.stderr;
    this.egress = parts.files.egress;
    this.#parts = parts;
    this.gone = this.#follow();
  }

  kill(): void {
    const { container, engine } = this.#parts;
    engine.kill(container).catch(() => {
      // It has just ended, or the engine does not answer: then `gone` removes it.
    });
  }

  async reach(): Promise<string> {
    const { files, socketName } = this.#parts;
    const socket = join(files.state, socketName);
    const pinned = files.pinSocket(socket);
    // Only the instance program has run yet. From now on the container can neither find the socket nor write here.
    await unlink(socket);
    await chmod(files.state, 0o700);
    return pinned;
  }

  setPolicies(policies: ChromePolicies): Promise<string> {
    return writePolicies(this.#parts.files, policies);
  }

  async setMemory(bytes: number): Promise<void> {
    try {
      await this.#parts.engine.setMemory(this.#parts.container, bytes);
    } catch (error) {
      const isGone = error instanceof EngineError && error.status === 404;
      throw new PlacementError(
        isGone ? "instance_lost" : "start_failed",
        isGone
          ? `Instance ${this.id} has ended.`
          : `The container engine refuses to limit the memory of an instance to ${String(bytes)} bytes: ${messageOf(error)}.`,
        { cause: error },
      );
    }
  }

  async clear(): Promise<void> {
    await this.#parts.files.clear();
  }

  async #follow(): Promise<Exit> {
    const { container, engine, log, streams } = this.#parts;
    let code: number | null = null;
    try {
      code = await engine.ended(container);
    } catch (error) {
      log.warn({ instance_id: this.id, error: messageOf(error) }, "Cannot follow a container; it is removed.");
    }
    for (let attempt = 1; ; attempt++) {
      try {
        await engine.remove(container);
        break;
      } catch (error) {
        if (attempt < removeAttempts) await sleep(removeEveryMs);
        else {
          const fields = { instance_id: this.id, container, error: messageOf(error) };
          log.error(fields, "Cannot remove a container. The next start of the server tries again.");
          break;
        }
      }
    }
    streams.close();
    return { code, signal: null };
  }
}
