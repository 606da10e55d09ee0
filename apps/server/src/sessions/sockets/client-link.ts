import { createServerFrames, encodeClose, encodeFrame, opcode } from "@shoal/instance";
import { type InstanceSleep, Pace } from "@shoal/placement";
import type { Duplex } from "node:stream";
import { isPong, keepAliveAnswers } from "./keep-alive.ts";

/** Time for a client to read and answer a close frame. */
const closeTimeoutMs = 500;
const pingsPerTimeout = 4;
/** Frames of an instance, well above those of a busy browser. Empty ones cost hundreds of times more than their bytes. */
const frameRate = { burst: 50_000, perSecond: 50_000 };

export interface ClientLinkParts {
  readonly client: Duplex;
  readonly inner: Duplex;
  /** Bytes that the client has already received, from the first frame on. */
  readonly sent: Buffer;
  readonly timeoutMs: number;
  readonly onTimeout: () => void;
  /** Absent if the instance runs on another server, which follows the same bytes. */
  readonly sleep?: InstanceSleep;
}

/**
 * Adds close frames and pings to a spliced WebSocket, between two messages of the instance. Pings find vanished clients
 * that TCP keep-alive misses behind a reverse proxy. Create it after the splice, whose writes must come first.
 */
export class ClientLink {
  readonly #parts: ClientLinkParts;
  readonly #frames = createServerFrames();
  readonly #pace = new Pace(frameRate);
  readonly #timer: NodeJS.Timeout;
  /** False once the instance sent an invalid frame; nothing can be added after that. */
  #isValid = true;
  #isPingDue = false;
  /** True while a flood of frames waits. */
  #isHeld = false;
  #closeFrame: Buffer | undefined;
  #lastSignMs = performance.now();
  #lookedMs = performance.now();

  constructor(parts: ClientLinkParts) {
    this.#parts = parts;
    const { client, inner, sent, timeoutMs } = parts;
    this.#follow(sent);
    inner.on("data", (chunk: Buffer) => {
      const framesBefore = this.#frames.frames;
      const boundary = this.#follow(chunk);
      this.#slowDown(this.#frames.frames - framesBefore);
      if (this.#closeFrame !== undefined) {
        this.#sendLast(chunk, boundary);
        return;
      }
      // A client that is still receiving a large message cannot be pinged and is not silent.
      if (!this.#isBetweenMessages) this.#noteSign();
      this.#sendPing();
    });
    // A pipe resumes its source after each drain.
    inner.on("resume", () => {
      if (this.#isHeld) inner.pause();
    });
    client.on("data", () => {
      this.#noteSign();
    });
    if (parts.sleep !== undefined) this.#followSleep(parts.sleep);
    this.#timer = setInterval(() => {
      this.#look();
    }, timeoutMs / pingsPerTimeout).unref();
    client.once("close", () => {
      clearInterval(this.#timer);
    });
  }

  /** Ends the connection with a close frame, or without one if the instance does not finish its message. */
  close(code: number, reason: string): void {
    if (this.#closeFrame !== undefined) return;
    const { client, inner } = this.#parts;
    this.#closeFrame = encodeClose(code, reason);
    const timer = setTimeout(() => client.destroy(), closeTimeoutMs);
    client.once("close", () => {
      clearTimeout(timer);
    });
    client.unpipe();
    client.resume();
    inner.unpipe(client);
    if (this.#isBetweenMessages) this.#sendClose();
    else this.#resumeForClient();
  }

  /**
   * Pings and pongs of a client do not wake the instance: the service answers them. Before an instance sleeps, it has
   * received only whole frames.
   */
  #followSleep(sleep: InstanceSleep): void {
    const { client, inner } = this.#parts;
    const isPassing = (): boolean => this.#closeFrame === undefined && !client.destroyed && !inner.writableEnded;
    /** The client's bytes are not piped to the instance. */
    let isHeld = false;
    const touch = (): void => {
      sleep.touch();
    };
    const stop = sleep.onChange(({ type }) => {
      if (type === "answered" || !isPassing()) return;
      isHeld = type === "asleep";
      if (isHeld) {
        client.unpipe(inner);
        client.resume();
      } else client.pipe(inner);
    });
    inner.on("data", (chunk: Buffer) => {
      if (!isPong(chunk)) touch();
    });
    client.on("data", (chunk: Buffer) => {
      const wasHeld = isHeld;
      const answers = keepAliveAnswers(chunk);
      if (answers === undefined) {
        touch();
        // The pipe that has just begun again does not have this chunk.
        if (wasHeld && isPassing()) inner.write(chunk);
        // A client that does not read needs no answer to each ping.
      } else if (wasHeld && isPassing() && !client.writableNeedDrain) for (const pong of answers) client.write(pong);
    });
    // The instance notices that the client left only if it runs.
    for (const event of ["end", "close"]) client.once(event, touch);
    client.once("close", stop);
    touch();
  }

  get isClosedByInstance(): boolean {
    return this.#frames.closed;
  }

  /** With a close frame, unless the instance sent one or stopped within a message. */
  endAfterInstance(code: number, reason: string): void {
    const { client } = this.#parts;
    if (this.#closeFrame !== undefined || client.writableEnded) return;
    client.end(this.#isBetweenMessages && !this.#frames.closed ? encodeClose(code, reason) : undefined);
  }

  #sendLast(chunk: Buffer, boundary: number): void {
    const { client, inner } = this.#parts;
    if (client.writableEnded || client.destroyed) return;
    client.write(boundary === -1 ? chunk : chunk.subarray(0, boundary));
    if (boundary !== -1) this.#sendClose();
    else if (client.writableNeedDrain) {
      inner.pause();
      this.#resumeForClient();
    }
  }

  #sendClose(): void {
    const { client, inner } = this.#parts;
    client.end(this.#closeFrame);
    inner.resume();
  }

  get #isBetweenMessages(): boolean {
    return this.#isValid && this.#frames.atBoundary;
  }

  #noteSign(): void {
    this.#lastSignMs = performance.now();
  }

  #slowDown(frames: number): void {
    const waitMs = this.#pace.spend(frames);
    if (waitMs === 0 || this.#isHeld) return;
    this.#isHeld = true;
    this.#parts.inner.pause();
    setTimeout(() => {
      this.#isHeld = false;
      this.#resumeForClient();
    }, waitMs).unref();
  }

  /** Reads from the instance again when the client's buffer has space. */
  #resumeForClient(): void {
    const { client, inner } = this.#parts;
    if (client.writableNeedDrain) client.once("drain", () => inner.resume());
    else inner.resume();
  }

  /** @returns the offset after the last complete message in a chunk; -1 if no message ends in it. */
  #follow(chunk: Buffer): number {
    if (!this.#isValid) return -1;
    try {
      return this.#frames.follow(chunk);
    } catch {
      this.#isValid = false;
      return -1;
    }
  }

  #look(): void {
    const { client, onTimeout, timeoutMs } = this.#parts;
    const nowMs = performance.now();
    // While this process was paused, it sent no pings and read no answers: that time is not the client's silence.
    const pausedMs = nowMs - this.#lookedMs - 2 * (timeoutMs / pingsPerTimeout);
    // Its answers may have been read before this timer, after the pause.
    if (pausedMs > 0) this.#lastSignMs = Math.min(nowMs, this.#lastSignMs + pausedMs);
    this.#lookedMs = nowMs;
    const silentMs = nowMs - this.#lastSignMs;
    if (silentMs >= timeoutMs) {
      onTimeout();
      client.destroy();
      return;
    }
    if (silentMs < timeoutMs / pingsPerTimeout / 2) return;
    this.#isPingDue = true;
    this.#sendPing();
  }

  #sendPing(): void {
    const { client } = this.#parts;
    if (!this.#isPingDue || !this.#isBetweenMessages || this.#closeFrame !== undefined || client.writableEnded) return;
    this.#isPingDue = false;
    client.write(encodeFrame(opcode.ping, Buffer.alloc(0)));
  }
}
