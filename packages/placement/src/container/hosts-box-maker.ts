import type { Box, BoxMaker, HostedProgram, Viewport } from "../boxes/box.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { PlacementError } from "../interface/placement-error.ts";
import { messageOf } from "@shoal/primitives";

export interface ContainerHost {
  /** Address of its engine. */
  readonly name: string;
  readonly memoryBytes: number;
  readonly maker: BoxMaker;
}

interface HostState extends ContainerHost {
  boxes: number;
  /** On the clock of `performance.now`; before it, other hosts are tried first. */
  restsUntilMs: number;
}

/** Milliseconds for which an engine that did not answer comes last. */
const restMs = 30_000;

/** Spreads instances over several machines by their memory. A machine whose engine does not answer is passed over. */
export class HostsBoxMaker implements BoxMaker {
  readonly kind = "docker";
  readonly #hosts: readonly HostState[];
  readonly #log: PlacementLog;

  constructor(hosts: readonly ContainerHost[], log: PlacementLog) {
    this.#hosts = hosts.map((host) => ({ ...host, boxes: 0, restsUntilMs: 0 }));
    this.#log = log;
  }

  start(id: string, viewport: Viewport): Promise<Box> {
    return this.#first(({ maker }) => maker.start(id, viewport));
  }

  host(id: string, program: HostedProgram): Promise<Box> {
    return this.#first(({ maker }) => maker.host?.(id, program));
  }

  /** @param start - returns `undefined` for a machine that cannot. */
  async #first(start: (host: ContainerHost) => Promise<Box> | undefined): Promise<Box> {
    let failure: unknown;
    for (const host of this.#inOrder()) {
      // Concurrent starts count at once, so that they do not choose the same machine.
      host.boxes += 1;
      try {
        const box = await start(host);
        if (box === undefined) {
          host.boxes -= 1;
          continue;
        }
        void box.gone.then(() => (host.boxes -= 1));
        return box;
      } catch (error) {
        host.boxes -= 1;
        if (!isUnreachable(error)) throw error;
        host.restsUntilMs = performance.now() + restMs;
        this.#log.warn({ engine: host.name, error: messageOf(error) }, "A container engine does not answer.");
        failure = error;
      }
    }
    throw failure;
  }

  #inOrder(): readonly HostState[] {
    const nowMs = performance.now();
    const rests = ({ restsUntilMs }: HostState): number => (restsUntilMs > nowMs ? 1 : 0);
    const load = ({ boxes, memoryBytes }: HostState): number => (boxes + 1) / memoryBytes;
    return this.#hosts.toSorted((a, b) => rests(a) - rests(b) || load(a) - load(b));
  }
}

function isUnreachable(error: unknown): boolean {
  return PlacementError.isInstance(error) && error.code === "unavailable";
}
