import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { ServiceError } from "@shoal/router";
import { createFrameReader, encodeClose, encodeFrame, FrameError, opcode, unmask } from "../cdp/frames.ts";
import { acceptUpgrade, checkUpgrade } from "../cdp/handshake.ts";
import type { Refusal } from "../session/replies.ts";
import type { SessionProcesses } from "./handlers.ts";
import type { NamedProcess } from "./processes.ts";

/** The last number of RFC 6455, section 1.3. */
const handshakeGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const maxFrameBytes = 1024 * 1024;
/** Controls are short: `{"type":"resize","cols":80,"rows":24}`. */
const maxControlBytes = 1024;
const maxSize = 65_535;
/** How long a client may take to answer a close. */
const closeTimeoutMs = 2_000;

/** `/process/{process_id}/attach`, without `/browsers/{id}`. */
const attachPath = /^\/process\/([^/]{1,255})\/attach$/;

/** What is attached to. */
export interface AttachTarget {
  /** Of the request, without its query. */
  readonly path: string;
  readonly processes: Pick<SessionProcesses, "find">;
}

/**
 * Joins a WebSocket with a process's terminal. Binary messages are its output, from the oldest that is kept, and its input; of text messages, a client's
 * `{"type":"resize","cols":…,"rows":…}` sizes it, and `{"type":"exit","exit_code":…}` is the last one before the close. When the client leaves, the process runs on.
 *
 * @returns why not, before anything was answered.
 */
export function attachTo(request: IncomingMessage, socket: Socket, head: Buffer, { path, processes }: AttachTarget): Refusal | undefined {
  const problem = checkUpgrade(request);
  if (problem !== undefined) return { status: 400, code: "bad_request", message: `This is no WebSocket handshake: ${problem}.` };
  const id = attachPath.exec(path)?.[1];
  if (id === undefined) return { status: 404, code: "not_found", message: `There is no WebSocket at ${path.slice(0, 200)}.` };
  let attachment: Attachment;
  try {
    const process = processes.find(id);
    if (process.resize === undefined)
      return {
        status: 400,
        code: "bad_request",
        message: "The process has no terminal to attach to. Start it with allocate_tty, or follow its output with browsers.process.stdoutStream.",
      };
    attachment = new Attachment(socket, process, process.output.read(undefined));
  } catch (error) {
    if (!ServiceError.isInstance(error)) throw error;
    return error;
  }
  const accept = createHash("sha1")
    .update((request.headers["sec-websocket-key"] ?? "") + handshakeGuid)
    .digest("base64");
  socket.setNoDelay(true);
  socket.write(acceptUpgrade(accept));
  attachment.start(head);
  return undefined;
}

class Attachment {
  readonly #socket: Socket;
  readonly #process: NamedProcess;
  readonly #frames: ReturnType<NamedProcess["output"]["read"]>;
  /** Pieces of the client's present message. */
  #pieces: Buffer[] = [];
  #code = 0;
  #mask: Buffer | undefined;
  #offset = 0;
  #final = true;
  #control: Buffer[] = [];
  #messageCode: number = opcode.binary;
  #messageBytes = 0;
  /** Input is written in order, one message after the other. */
  #writing: Promise<unknown> = Promise.resolve();
  #closing = false;
  readonly #left = new AbortController();

  constructor(socket: Socket, process: NamedProcess, frames: ReturnType<NamedProcess["output"]["read"]>) {
    this.#socket = socket;
    this.#process = process;
    this.#frames = frames;
  }

  start(head: Buffer): void {
    const socket = this.#socket;
    const reader = createFrameReader(
      { masked: true, maxPayloadBytes: maxFrameBytes },
      {
        header: (header) => {
          this.#code = header.opcode;
          this.#mask = header.mask;
          this.#offset = 0;
          if (header.opcode >= opcode.close) this.#control = [];
          else if (header.opcode !== opcode.continuation) {
            this.#messageCode = header.opcode;
            this.#pieces = [];
            this.#messageBytes = 0;
          }
          this.#final = header.final;
        },
        payload: (chunk) => {
          const plain = this.#mask === undefined ? chunk : unmask(chunk, this.#mask, this.#offset);
          this.#offset += chunk.length;
          if (this.#code >= opcode.close) this.#control.push(plain);
          else {
            this.#messageBytes += plain.length;
            if (this.#messageBytes > maxFrameBytes) throw new FrameError(1009, `a message of more than ${String(maxFrameBytes)} bytes`);
            this.#pieces.push(plain);
          }
        },
        end: () => {
          this.#endFrame();
        },
      },
    );
    socket.on("data", (chunk: Buffer) => {
      if (this.#closing) return;
      try {
        reader.push(chunk);
      } catch (error) {
        if (!(error instanceof FrameError)) throw error;
        this.#close(error.code, error.message);
      }
    });
    socket.on("end", () => socket.destroy());
    socket.on("close", () => {
      this.#closing = true;
      this.#left.abort();
      void this.#frames.return?.();
    });
    if (head.length > 0) socket.unshift(head);
    socket.resume();
    this.#sendOutput().catch(() => socket.destroy());
  }

  #endFrame(): void {
    if (this.#code === opcode.close) {
      this.#close(1000, "");
    } else if (this.#code === opcode.ping) {
      this.#send(opcode.pong, Buffer.concat(this.#control));
    } else if (this.#code < opcode.close && this.#final) {
      const message = Buffer.concat(this.#pieces);
      this.#pieces = [];
      if (this.#messageCode === opcode.text) this.#takeControl(message);
      else this.#takeInput(message);
    }
  }

  #takeInput(data: Buffer): void {
    if (data.length === 0) return;
    // A terminal that nobody reads must not fill the memory.
    this.#socket.pause();
    this.#writing = this.#writing
      .then(() => this.#write(data))
      .catch(() => undefined)
      .then(() => this.#socket.resume());
  }

  /** Waits for a program that does not read as long as the client is there. */
  async #write(data: Buffer): Promise<void> {
    const { signal } = this.#left;
    for (let written = 0; written < data.length && !signal.aborted;)
      written += await this.#process.write(data.subarray(written), { close: false, signal });
  }

  #takeControl(message: Buffer): void {
    let parsed: unknown;
    try {
      parsed = message.length > maxControlBytes ? undefined : JSON.parse(message.toString());
    } catch {
      parsed = undefined;
    }
    if (
      typeof parsed === "object" &&
      parsed !== null &&
      "type" in parsed &&
      parsed.type === "resize" &&
      "cols" in parsed &&
      "rows" in parsed &&
      isSize(parsed.cols) &&
      isSize(parsed.rows)
    ) {
      this.#process.resize?.(parsed.cols, parsed.rows);
      return;
    }
    this.#close(1008, 'text messages must be {"type":"resize","cols":…,"rows":…}; input is sent in binary ones');
  }

  async #sendOutput(): Promise<void> {
    for await (const frame of { [Symbol.asyncIterator]: () => this.#frames }) {
      if (this.#closing) return;
      if (!("data" in frame)) continue;
      const { data_b64, event, exit_code } = frame.data;
      if (data_b64 !== undefined) this.#send(opcode.binary, Buffer.from(data_b64, "base64"));
      if (event === "exit") this.#send(opcode.text, Buffer.from(JSON.stringify({ type: "exit", exit_code })));
      if (this.#socket.writableNeedDrain) await this.#drained();
    }
    this.#close(1000, "the process has ended");
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const settle = (): void => {
        this.#socket.off("drain", settle).off("close", settle);
        resolve();
      };
      this.#socket.on("drain", settle).on("close", settle);
    });
  }

  #send(code: number, payload: Buffer): void {
    if (!this.#closing && !this.#socket.destroyed) this.#socket.write(encodeFrame(code, payload));
  }

  #close(code: number, reason: string): void {
    if (this.#closing) return;
    this.#closing = true;
    const socket = this.#socket;
    socket.end(encodeClose(code, reason));
    socket.resume();
    setTimeout(() => socket.destroy(), closeTimeoutMs).unref();
  }
}

function isSize(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= maxSize;
}
