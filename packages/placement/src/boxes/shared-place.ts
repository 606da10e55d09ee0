import type { EgressDoor } from "../egress/gateway.ts";
import type { EgressControls } from "../interface/egress.ts";
import { pinSocket } from "./pin-socket.ts";

/** Paths of one more session in a box, as the program in the box sees them. */
export interface SharedPaths {
  readonly listenPath: string;
  readonly egressPath: string;
}

export interface SharedPlaceOptions {
  readonly paths: SharedPaths;
  readonly door: EgressDoor;
  /** Opens the session's socket once the program listens. */
  readonly findSocket: () => Promise<ReturnType<typeof pinSocket>>;
}

/** Sockets of one more session in a box. */
export class SharedPlace {
  readonly paths: SharedPaths;
  readonly egress: EgressControls;
  readonly #options: SharedPlaceOptions;
  #unpin: (() => void) | undefined;

  constructor(options: SharedPlaceOptions) {
    this.#options = options;
    this.paths = options.paths;
    this.egress = options.door;
  }

  /** @throws if the program does not listen there. */
  async reach(): Promise<string> {
    const { path, unpin } = await this.#options.findSocket();
    this.#unpin = unpin;
    return path;
  }

  async clear(): Promise<void> {
    this.#unpin?.();
    this.#unpin = undefined;
    await this.#options.door.close();
  }
}
