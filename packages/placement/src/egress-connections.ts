import { maxOpenFiles } from "./open-files.ts";
import type { Socket } from "node:net";

/** What bounds the connections of sessions to the network. */
export interface EgressLimits {
  /** Connections that one session may have open. Chromium itself opens at most 32 through a proxy, WebSockets not included. */
  readonly connectionsPerSession: number;
  /** Connections that all sessions of one project may have open. */
  readonly connectionsPerProject: number;
  /** Connections that all sessions may have open. */
  readonly connections: number;
  /** Milliseconds without a byte in either direction after which a connection is closed. */
  readonly idleMs: number;
  /** Milliseconds for a connection: name lookup, TCP, TLS to a proxy and its handshake together. */
  readonly connectMs: number;
  /** Milliseconds without a byte for a connection that waits for a request, or that one side has ended. */
  readonly waitingMs: number;
  /** Names of one session that are looked up at once. */
  readonly lookupsPerSession: number;
}

/**
 * The usual limits. A connection takes up to two descriptors, one on each side of the gateway; half of the process's descriptors stay reserved for the API,
 * the database and files.
 */
export function usualEgressLimits(): EgressLimits {
  return {
    connectionsPerSession: 256,
    connectionsPerProject: 2_000,
    connections: Math.max(16, Math.floor(maxOpenFiles() / 4)),
    idleMs: 15 * 60_000,
    connectMs: 30_000,
    waitingMs: 60_000,
    lookupsPerSession: 4,
  };
}

/** The connections of one session. */
export interface ConnectionOwner {
  project: string | undefined;
  readonly sockets: Set<Socket>;
}

/** Which limit was reached. */
export type ReachedLimit = "session" | "project" | "server";

/** Counts the connections of all sessions and decides about new ones. */
export class EgressConnections {
  readonly #limits: EgressLimits;
  readonly #owners = new Set<ConnectionOwner>();
  #open = 0;
  /** Connections that were refused or closed by a limit, since the start. */
  readonly ended: Record<ReachedLimit | "idle", number> = { session: 0, project: 0, server: 0, idle: 0 };

  constructor(limits: EgressLimits) {
    this.#limits = limits;
  }

  get open(): number {
    return this.#open;
  }

  /** Counts a connection, unless a limit is reached; the caller then closes it. */
  admit(owner: ConnectionOwner, socket: Socket): ReachedLimit | undefined {
    const reached = this.#reachedLimit(owner);
    if (reached !== undefined) {
      this.ended[reached]++;
      return reached;
    }
    this.#owners.add(owner);
    owner.sockets.add(socket);
    this.#open++;
    socket.once("close", () => {
      this.#release(owner, socket);
    });
    return undefined;
  }

  #reachedLimit(owner: ConnectionOwner): ReachedLimit | undefined {
    if (owner.sockets.size >= this.#limits.connectionsPerSession) return "session";
    if (owner.project !== undefined && this.#countOf(owner.project) >= this.#limits.connectionsPerProject) return "project";
    if (this.#open < this.#limits.connections) return undefined;
    return this.#makeRoomFor(owner) ? undefined : "server";
  }

  #countOf(project: string): number {
    let count = 0;
    for (const owner of this.#owners) if (owner.project === project) count += owner.sockets.size;
    return count;
  }

  /** Closes the oldest connection of the session that has the most, unless the new one belongs to it or it has hardly more. */
  #makeRoomFor(owner: ConnectionOwner): boolean {
    let heaviest: ConnectionOwner = owner;
    for (const other of this.#owners) if (other.sockets.size > heaviest.sockets.size) heaviest = other;
    const [oldest] = heaviest.sockets;
    if (oldest === undefined || heaviest.sockets.size <= owner.sockets.size + 1) return false;
    this.ended.server++;
    // `close` comes later; without this the same connection would be chosen again.
    this.#release(heaviest, oldest);
    oldest.destroy();
    return true;
  }

  #release(owner: ConnectionOwner, socket: Socket): void {
    if (!owner.sockets.delete(socket)) return;
    this.#open--;
    if (owner.sockets.size === 0) this.#owners.delete(owner);
  }
}

/** Lets a number of tasks run at once; the others wait in order. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
