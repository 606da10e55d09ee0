import type { EgressLimits, ReachedLimit } from "../interface/egress.ts";
import { maxOpenFiles } from "../host/open-files.ts";
import type { Socket } from "node:net";
import pLimit, { type LimitFunction } from "p-limit";

/** A connection takes two file descriptors; half of them are reserved for API, database and files. */
export function usualEgressLimits(): EgressLimits {
  return {
    connectionsPerSession: 256,
    connectionsPerProject: 2_000,
    connections: Math.max(16, Math.floor(maxOpenFiles() / 4)),
    idleMs: 15 * 60_000,
    connectMs: 30_000,
    waitingMs: 60_000,
    lookupsPerSession: 4,
    lookupsPerProject: 6,
  };
}

export interface ConnectionOwner {
  project: string | undefined;
  readonly sockets: Set<Socket>;
}

/** Runs work that may look a name up. */
export type LookUp = <Result>(work: () => Promise<Result>) => Promise<Result>;

export class EgressConnections {
  readonly #limits: EgressLimits;
  readonly #lookupsOfProjects = new Map<string, LimitFunction>();
  readonly #owners = new Set<ConnectionOwner>();
  #open = 0;
  readonly ended: Record<ReachedLimit | "idle", number> = { session: 0, project: 0, server: 0, idle: 0 };

  constructor(limits: EgressLimits) {
    this.#limits = limits;
  }

  get open(): number {
    return this.#open;
  }

  /** Returns the limit that was reached; the caller then closes the connection. */
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

  /** So that slow names of a session or project do not delay others. */
  lookupsOf(owner: ConnectionOwner): LookUp {
    const own = pLimit(this.#limits.lookupsPerSession);
    return (work) => own(() => this.#inProject(owner.project, work));
  }

  async #inProject<Result>(project: string | undefined, work: () => Promise<Result>): Promise<Result> {
    if (project === undefined) return work();
    const limit = this.#lookupsOfProjects.get(project) ?? pLimit(this.#limits.lookupsPerProject);
    this.#lookupsOfProjects.set(project, limit);
    try {
      return await limit(work);
    } finally {
      if (limit.activeCount + limit.pendingCount === 0) this.#lookupsOfProjects.delete(project);
    }
  }

  #reachedLimit(owner: ConnectionOwner): ReachedLimit | undefined {
    if (owner.sockets.size >= this.#limits.connectionsPerSession) return "session";
    if (owner.project !== undefined && this.#countOf(owner.project) >= this.#limits.connectionsPerProject)
      return "project";
    if (this.#open < this.#limits.connections) return undefined;
    return this.#makeRoomFor(owner) ? undefined : "server";
  }

  #countOf(project: string): number {
    let count = 0;
    for (const owner of this.#owners) if (owner.project === project) count += owner.sockets.size;
    return count;
  }

  /** Closes the oldest connection of the busiest session, unless it has at most one more than `owner`. */
  #makeRoomFor(owner: ConnectionOwner): boolean {
    let heaviest: ConnectionOwner = owner;
    for (const other of this.#owners) if (other.sockets.size > heaviest.sockets.size) heaviest = other;
    const [oldest] = heaviest.sockets;
    if (oldest === undefined || heaviest.sockets.size <= owner.sockets.size + 1) return false;
    this.ended.server++;
    // Before `close` fires, the same connection could be chosen again.
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

export function limitText(reached: ReachedLimit, limits: EgressLimits): string {
  if (reached === "session")
    return `This session has ${String(limits.connectionsPerSession)} open connections, the limit (egress_connections_per_session). Close pages or programs.`;
  if (reached === "project")
    return `The sessions of this project have ${String(limits.connectionsPerProject)} open connections, the limit (egress_connections_per_project). Close pages or end sessions.`;
  return "The server has no file descriptors left for connections of sessions. Close pages, end sessions, or raise the limit of open files (ulimit -n).";
}
