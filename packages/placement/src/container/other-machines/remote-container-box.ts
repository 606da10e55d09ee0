import type { TlsIdentity } from "@shoal/primitives/pinned-tls";
import type { Box, Dial, Exit } from "../../boxes/box.ts";
import type { InstanceFiles } from "../../boxes/instance-files.ts";
import type { EgressControls } from "../../interface/egress.ts";
import { PlacementError } from "../../interface/placement-error.ts";
import type { PlacementLog } from "../../interface/placement-log.ts";
import { StreamedInstance } from "../../remote/streamed-instance.ts";
import type { AttachedStreams } from "../attached-streams.ts";
import type { RunningContainer } from "../running-container.ts";
import type { Readable } from "node:stream";

export interface RemoteContainerBoxParts {
  readonly container: RunningContainer;
  /** The engine's address, for messages. */
  readonly host: string;
  readonly streams: AttachedStreams;
  readonly files: InstanceFiles;
  readonly identity: TlsIdentity;
  readonly log: PlacementLog;
}

/** An instance in a container of another machine, reached through its standard input and output. */
export class RemoteContainerBox implements Box {
  readonly id: string;
  readonly pid = undefined;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly gone: Promise<Exit>;
  readonly egress: EgressControls;
  readonly asksToEnd = false;
  readonly #parts: RemoteContainerBoxParts;
  readonly #instance: StreamedInstance;

  constructor(id: string, parts: RemoteContainerBoxParts) {
    this.id = id;
    this.stderr = parts.streams.stderr;
    this.egress = parts.files.egress;
    this.#parts = parts;
    const { files, host, identity, log, streams } = parts;
    const { stdin, stdout } = streams;
    // The engine's answer proves the key of the instance.
    this.#instance = new StreamedInstance({ id, host, stdin, stdout, files, identity, log });
    this.stdout = this.#instance.stdout;
    this.gone = parts.container.ended().finally(() => {
      this.#instance.close();
      streams.close();
    });
  }

  kill(): void {
    this.#parts.container.kill();
  }

  reach(): Promise<Dial> {
    return this.#instance.reach();
  }

  setPolicies(): Promise<string> {
    return Promise.reject(
      new PlacementError("bad_option", "Sessions in containers of other machines cannot have policies."),
    );
  }

  setMemory(bytes: number): Promise<void> {
    return this.#parts.container.setMemory(bytes);
  }

  async clear(): Promise<void> {
    await this.#parts.files.clear();
  }
}
