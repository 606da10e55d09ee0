import { isPassive } from "@shoal/instance";
import type { Instance, InstanceRequest } from "@shoal/placement";

/** An instance ends its session itself at the timeout. Slow instances have this time. */
const graceMs = 60_000;
const controlPrefix = "/_instance/";
/** Calls of the control channel that instances do not count either: streams for the service, and its checkpoints of profiles. */
const unusedControl = /^\/_instance\/(?:(?:events|telemetry)(?:\?|$)|replays\/|profile\?source=checkpoint$)/;

interface OutsideUseOptions {
  readonly timeoutSeconds: () => number;
  /** A person has the session, or was asked to. */
  readonly isHandedOver: () => Promise<boolean>;
  readonly onIdle: () => void;
}

/**
 * The use of a session as its server sees it: requests and connections to its instance. It ends the sessions of instances
 * that do not: code in a session can stop its instance, or take it over.
 */
export class OutsideUse {
  readonly #options: OutsideUseOptions;
  #uses = 0;
  #lastUseMs = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: OutsideUseOptions) {
    this.#options = options;
    this.#arm();
  }

  /** @returns ends the use; only the first call counts. */
  begin(): () => void {
    this.#uses += 1;
    clearTimeout(this.#timer);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#uses -= 1;
      this.touch();
    };
  }

  /** Restarts the timeout, also after a change of it. */
  touch(): void {
    this.#lastUseMs = performance.now();
    this.#arm();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #restMs(): number {
    return this.#lastUseMs + this.#options.timeoutSeconds() * 1000 + graceMs - performance.now();
  }

  #arm(): void {
    this.#armIn(Math.max(0, Math.ceil(this.#restMs())));
  }

  #armIn(waitMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isClosed || this.#uses > 0) return;
    this.#timer = setTimeout(() => void this.#look(), waitMs).unref();
  }

  async #look(): Promise<void> {
    if (this.#restMs() > 0) {
      this.#arm();
      return;
    }
    const isHandedOver = await this.#options.isHandedOver().catch(() => undefined);
    if (isHandedOver === true) this.touch();
    // A database that does not answer ends no session, and does not restart the timeout.
    else if (isHandedOver === undefined) this.#armIn(graceMs);
    else if (!this.#isClosed && this.#uses === 0 && this.#restMs() <= 0) this.#options.onIdle();
  }
}

/** Counts the calls of `instance` as uses. */
export function countedCalls(
  instance: Pick<Instance, "connect" | "request">,
  use: OutsideUse | undefined,
): Pick<Instance, "connect" | "request"> {
  return {
    async request(init, body) {
      const finish = countsAsUse(init) ? use?.begin() : undefined;
      if (finish === undefined) return instance.request(init, body);
      try {
        const answer = await instance.request(init, body);
        answer.once("close", finish);
        return answer;
      } catch (error) {
        finish();
        throw error;
      }
    },
    async connect() {
      const socket = await instance.connect();
      if (use !== undefined) socket.once("close", use.begin());
      return socket;
    },
  };
}

function countsAsUse({ headers, method, path }: InstanceRequest): boolean {
  return path.startsWith(controlPrefix)
    ? method !== "GET" || !unusedControl.test(path)
    : !isPassive({ headers, method, url: path });
}
