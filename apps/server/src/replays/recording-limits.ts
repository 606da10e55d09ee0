import { ServiceError } from "@shoal/router";

/** Recordings that one session makes, one after the other. */
export const maxRecordingsPerSession = 100;
/** Recordings of one session that run at once. */
const maxRunningPerSession = 4;
/** The same with those that were told to stop, and have a moment to hand over the end of their film. */
const maxFollowedPerSession = 8;

/** A recording begins only where there is room for its first pictures. */
const leastRoomBytes = 64 * 1024;

/** Whose recording it is. */
export interface RecordedSession {
  readonly id: string;
  readonly projectId: string;
}

/** A recording whose file grows. */
export interface RunningRecording {
  readonly session: RecordedSession;
  /** It was told to stop. */
  readonly isStopping: boolean;
}

export interface ReplayQuota {
  /** Recordings of one project that run on this server at once. */
  readonly maxRunning: number;
  /** Bytes of the recordings of one project on this server, running and ended. */
  readonly maxBytes: number;
}

/** Bounds recordings in the service: the instance that counts them too may be in the hands of the code in its box. */
export class RecordingLimits {
  readonly #quota: ReplayQuota;
  readonly #bytes = new Map<string, number>();

  constructor(quota: ReplayQuota) {
    this.#quota = quota;
  }

  /** @throws {ServiceError} 409 when as many run as may; 507 when the project's recordings have no more room. */
  admit({ id, projectId }: RecordedSession, running: Iterable<RunningRecording>): void {
    const all = [...running];
    const own = all.filter(({ session }) => session.id === id);
    if (own.length >= maxFollowedPerSession || own.filter(({ isStopping }) => !isStopping).length >= maxRunningPerSession)
      throw new ServiceError(
        409,
        "conflict",
        `${String(maxRunningPerSession)} recordings of this session run, the most there can be. Stop one with browsers.replays.stop.`,
      );
    if (all.filter(({ session }) => session.projectId === projectId).length >= this.#quota.maxRunning)
      throw new ServiceError(
        409,
        "conflict",
        `${String(this.#quota.maxRunning)} recordings of this project run on this server, the most there can be (replay_max_running). Stop one with browsers.replays.stop.`,
      );
    if (this.roomOf(projectId) < leastRoomBytes)
      throw new ServiceError(507, "insufficient_storage", `${this.fullMessage()} Raise the limit, or wait until older ones are removed.`);
  }

  /** Counts bytes of a project's films; negative ones were removed. */
  count(projectId: string, bytes: number): void {
    const sum = (this.#bytes.get(projectId) ?? 0) + bytes;
    if (sum > 0) this.#bytes.set(projectId, sum);
    else this.#bytes.delete(projectId);
  }

  /** Bytes that the films of a project may still grow by. */
  roomOf(projectId: string): number {
    return Math.max(0, this.#quota.maxBytes - (this.#bytes.get(projectId) ?? 0));
  }

  fullMessage(): string {
    return `The recordings of this project have ${String(this.#quota.maxBytes / 2 ** 30)} GiB on this server, the most there can be (replay_max_gib).`;
  }
}
