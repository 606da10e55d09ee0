import { ServiceError } from "@shoal/router";

export const maxRecordingsPerSession = 100;
const maxRunningPerSession = 4;
/** Includes stopping recordings whose film is still being copied. */
const maxFollowedPerSession = 8;

const leastRoomBytes = 64 * 1024;

export interface RecordedSession {
  readonly id: string;
  readonly projectId: string;
}

export interface RunningRecording {
  readonly session: RecordedSession;
  readonly isStopping: boolean;
}

export interface ReplayQuota {
  readonly maxRunning: number;
  readonly maxBytes: number;
}

/** Enforces limits of recordings in the service: code in the sandbox may control the instance and its own limits. */
export class RecordingLimits {
  readonly #quota: ReplayQuota;
  readonly #bytes = new Map<string, number>();
  /** In the store, when a recording of the project last started. */
  readonly #stored = new Map<string, number>();

  constructor(quota: ReplayQuota) {
    this.#quota = quota;
  }

  /** @throws {ServiceError} 409 above a concurrency limit; 507 above the space limit of the project. */
  admit({ id, projectId }: RecordedSession, running: Iterable<RunningRecording>): void {
    const all = [...running];
    const own = all.filter(({ session }) => session.id === id);
    if (
      own.length >= maxFollowedPerSession ||
      own.filter(({ isStopping }) => !isStopping).length >= maxRunningPerSession
    )
      throw new ServiceError(
        409,
        "conflict",
        `This session has ${String(maxRunningPerSession)} running recordings, the limit.`,
        { limit: maxRunningPerSession, hint: "Stop one with browsers.replays.stop." },
      );
    if (all.filter(({ session }) => session.projectId === projectId).length >= this.#quota.maxRunning)
      throw new ServiceError(
        409,
        "conflict",
        `This project has ${String(this.#quota.maxRunning)} running recordings on this server, the limit (replay_max_running).`,
        { limit: this.#quota.maxRunning, hint: "Stop one with browsers.replays.stop." },
      );
    if (this.roomOf(projectId) < leastRoomBytes)
      throw new ServiceError(507, "insufficient_storage", this.fullMessage(), {
        hint: "Raise the limit, or wait until older recordings are deleted.",
      });
  }

  /** Negative after a deletion. */
  count(projectId: string, bytes: number): void {
    const sum = (this.#bytes.get(projectId) ?? 0) + bytes;
    if (sum > 0) this.#bytes.set(projectId, sum);
    else this.#bytes.delete(projectId);
  }

  /** Bytes of a project's recordings in the store. @param isMore - in addition to the present ones. */
  noteStored(projectId: string, bytes: number, isMore = false): void {
    this.#stored.set(projectId, (isMore ? (this.#stored.get(projectId) ?? 0) : 0) + bytes);
  }

  get usedBytes(): ReadonlyMap<string, number> {
    return this.#bytes;
  }

  roomOf(projectId: string): number {
    return Math.max(0, this.#quota.maxBytes - (this.#bytes.get(projectId) ?? 0) - (this.#stored.get(projectId) ?? 0));
  }

  fullMessage(): string {
    return `The recordings of this project use ${String(this.#quota.maxBytes / 2 ** 30)} GiB on this server and in the store, the limit (replay_max_gib).`;
  }
}
