import type { Box, Exit } from "../boxes/box.ts";
import type { InstanceFiles } from "../boxes/instance-files.ts";
import { writePolicies } from "../boxes/policies.ts";
import type { EgressControls } from "../interface/egress.ts";
import type { ChromePolicies } from "../interface/placement.ts";
import type { AttachedStreams } from "./attached-streams.ts";
import type { RunningContainer } from "./running-container.ts";
import { chmod, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";

export interface ContainerBoxParts {
  readonly container: RunningContainer;
  readonly pid: number;
  readonly streams: AttachedStreams;
  readonly files: InstanceFiles;
  readonly socketName: string;
}

/** An instance in a container of this machine, reached through a socket in a mounted folder. */
export class ContainerBox implements Box {
  readonly id: string;
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly gone: Promise<Exit>;
  readonly egress: EgressControls;
  readonly asksToEnd = false;
  readonly #parts: ContainerBoxParts;

  constructor(id: string, parts: ContainerBoxParts) {
    this.id = id;
    this.pid = parts.pid;
    this.stdout = parts.streams.stdout;
    this.stderr = parts.streams.stderr;
    this.egress = parts.files.egress;
    this.#parts = parts;
    this.gone = parts.container.ended().finally(() => {
      parts.streams.close();
    });
  }

  kill(): void {
    this.#parts.container.kill();
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

  setMemory(bytes: number): Promise<void> {
    return this.#parts.container.setMemory(bytes);
  }

  async clear(): Promise<void> {
    await this.#parts.files.clear();
  }
}
