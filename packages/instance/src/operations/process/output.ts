import { foreignEventId } from "@shoal/contract/refusals";
import { ServiceError, type StreamFrame } from "@shoal/router";
import type { ProcessStreamEvent } from "@shoal/schemas";
import { EventLog } from "../../http/event-log.ts";
import type { ProcessLimits } from "./limits.ts";

export interface SharedOutput {
  bytes: number;
  readonly maxBytes: number;
  /** The oldest first. They are dropped before outputs of running processes. */
  readonly ended: Set<ProcessOutput>;
}

/** Longest piece, so that a number of pieces bounds the bytes. */
const maxPieceBytes = 32 * 1024;
/** A process waits for a reader this many pieces behind. An {@link EventLog} keeps more, so the reader misses none. */
const mostBehind = 10;

interface Place {
  position: number;
  movedMs: number;
  stalled: boolean;
}

export interface Brake {
  pause(): void;
  resume(): void;
}

/** Bounded output. The process waits for slow readers, but not for stalled readers, which get a gap. */
export class ProcessOutput {
  readonly #log: EventLog<ProcessStreamEvent>;
  readonly #limits: ProcessLimits;
  readonly #shared: SharedOutput;
  readonly #places = new Set<Place>();
  #brake: Brake | undefined;
  #braked = false;
  #looking: NodeJS.Timeout | undefined;

  constructor(limits: ProcessLimits, shared: SharedOutput) {
    this.#limits = limits;
    this.#shared = shared;
    this.#log = new EventLog({ events: 100_000, bytes: limits.outputBytes, shared });
  }

  /** @param brake - pauses the process while readers are slow. */
  start(brake: Brake): void {
    this.#brake = brake;
    this.#settle();
  }

  push(stream: "stdout" | "stderr", chunk: Buffer): void {
    for (let at = 0; at < chunk.length; at += maxPieceBytes) {
      const data_b64 = chunk.toString("base64", at, Math.min(chunk.length, at + maxPieceBytes));
      this.#makeRoom(data_b64.length);
      this.#log.push({ stream, data_b64 }, data_b64.length + 200);
    }
    this.#settle();
  }

  finish(exitCode: number): void {
    this.#log.push({ event: "exit", exit_code: exitCode }, 200);
    this.#log.close();
    this.#brake = undefined;
    clearInterval(this.#looking);
    this.#shared.ended.add(this);
  }

  read(lastEventId: string | undefined): AsyncIterableIterator<StreamFrame<ProcessStreamEvent>, undefined> {
    const after = positionOf(lastEventId, this.#log.lastId);
    if (this.#log.readers >= this.#limits.readersPerProcess) {
      throw new ServiceError(
        429,
        "too_many_requests",
        `The process's output has ${this.#limits.readersPerProcess} readers, the limit.`,
        { limit: this.#limits.readersPerProcess, hint: "Close one of their connections." },
      );
    }
    const place: Place = { position: after, movedMs: performance.now(), stalled: false };
    const frames = this.#log.read(after);
    const leave = (): void => {
      this.#places.delete(place);
      this.#settle();
    };
    this.#places.add(place);
    this.#settle();
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: async () => {
        place.movedMs = performance.now();
        place.stalled = false;
        const step = await frames.next();
        if (step.done === true) {
          leave();
          return { done: true, value: undefined };
        }
        place.position = Number(step.value.id);
        place.movedMs = performance.now();
        this.#settle();
        return step;
      },
      async return() {
        leave();
        await frames.return?.();
        return { done: true, value: undefined };
      },
    };
  }

  #makeRoom(bytes: number): void {
    for (const oldest of this.#shared.ended) {
      if (this.#shared.bytes + bytes <= this.#shared.maxBytes) return;
      this.#shared.ended.delete(oldest);
      oldest.#log.trim(1);
    }
  }

  #settle(): void {
    if (this.#brake === undefined) return;
    let behind = 0;
    for (const { position, stalled } of this.#places)
      if (!stalled) behind = Math.max(behind, this.#log.lastId - position);
    if (!this.#braked && behind >= mostBehind) {
      this.#braked = true;
      this.#brake.pause();
      this.#looking = setInterval(() => {
        this.#look();
      }, this.#limits.stalledMs / 4).unref();
    } else if (this.#braked && behind <= mostBehind / 2) {
      this.#braked = false;
      clearInterval(this.#looking);
      this.#brake.resume();
    }
  }

  #look(): void {
    const now = performance.now();
    for (const place of this.#places) if (now - place.movedMs >= this.#limits.stalledMs) place.stalled = true;
    this.#settle();
  }
}

function positionOf(lastEventId: string | undefined, lastId: number): number {
  if (lastEventId === undefined || lastEventId === "") return 0;
  const position = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;
  if (position === undefined || position > lastId) {
    throw ServiceError.of(foreignEventId("this process's output", lastId));
  }
  return position;
}
