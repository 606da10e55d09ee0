import { encodeMessage, encodeFrame, type Frame, FrameReader, maxFrameBytesInside } from "./frames.ts";
import { once } from "node:events";
import { connect, Socket } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { inspect } from "node:util";
import { Worker } from "node:worker_threads";

/** The program's side of the channel. */
export class Channel {
  readonly #socket: Socket;
  readonly #reader = new FrameReader(maxFrameBytesInside);
  readonly #frames: Frame[] = [];
  #wake: (() => void) | undefined;

  /** @param place - a file descriptor, or the path of a socket where a container has no descriptor of the service. */
  constructor(place: string) {
    this.#socket = /^\d+$/.test(place)
      ? new Socket({ fd: Number(place), readable: true, writable: true })
      : connect({ path: place, allowHalfOpen: true });
    // The service has closed it.
    this.#socket.on("error", () => process.exit(1));
    this.#socket.on("end", () => process.exit(1));
    this.#socket.on("data", this.#onData);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#frames.push(...this.#reader.read(chunk));
    this.#wake?.();
  };

  async next(): Promise<Frame> {
    for (;;) {
      const frame = this.#frames.shift();
      if (frame !== undefined) return frame;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async message(): Promise<unknown> {
    return JSON.parse((await this.next()).content.toString("utf8"));
  }

  send(message: object): void {
    this.#socket.write(encodeMessage(message));
  }

  sendValue(text: string): void {
    this.#socket.write(encodeFrame("value", Buffer.from(text)));
  }

  async sendBytes(bytes: Buffer): Promise<void> {
    if (!this.#socket.write(encodeFrame("bytes", bytes))) await once(this.#socket, "drain");
  }

  /** From now on, `other` sends and receives. */
  handOver(other: Duplex): void {
    this.#socket.off("data", this.#onData);
    this.#socket.pipe(other, { end: false }).on("error", () => undefined);
    other.pipe(this.#socket, { end: false });
  }

  /** Resolves when everything has left this process. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.end(resolve);
    });
  }
}

/** Bundled next to the programs. */
const forwarderFile = "forwarder.cjs";

/** Starts forwarding ports before other code uses them. */
export async function forwardPorts(
  forward: readonly { readonly port: number; readonly path: string }[],
): Promise<void> {
  if (forward.length === 0) return;
  const worker = new Worker(join(__dirname, forwarderFile), { workerData: forward });
  await once(worker, "message");
  worker.unref();
}

/** To the log of the app, with its stack and cause. */
export function printError(error: unknown): void {
  process.stderr.write(`${inspect(error)}\n`);
}

/** Pipes are asynchronous: `process.exit` would lose what they buffer. */
export async function flushOutput(): Promise<void> {
  await Promise.all(
    [process.stdout, process.stderr].map(
      (stream) =>
        new Promise<void>((resolve) => {
          stream.write("", () => {
            resolve();
          });
        }),
    ),
  );
}
