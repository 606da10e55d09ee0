import { anySignal } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import pLimit from "p-limit";
import type { WebSocket } from "ws";
import type { AutomationPause } from "../../pause/automation-pause.ts";
import { checkUpgrade } from "../../http/upgrade.ts";
import type { Refusal } from "../../http/replies.ts";
import { acceptWebSocket, bytesOf } from "../../http/websocket.ts";
import type { SessionProcesses } from "./handlers.ts";
import type { NamedProcess } from "./named-process.ts";

const maxMessageBytes = 1024 * 1024;
const maxControlBytes = 1024;
const maxSize = 65_535;
/** Output is read no faster than the client receives it. */
const maxBufferedBytes = 64 * 1024;

const attachPath = /^\/process\/([^/]{1,255})\/attach$/;

type Pause = Pick<AutomationPause, "isActive" | "refuses" | "run" | "whenOver">;

export interface AttachTarget {
  readonly path: string;
  /** Input waits or closes the connection while a person controls the session: programs can reach the browser. */
  readonly pause: Pause;
  readonly processes: Pick<SessionProcesses, "find">;
}

/**
 * Binary messages carry input, and output from the oldest kept byte; text messages are
 * `{"type":"resize","cols":80,"rows":24}` and, as the last message, `{"type":"exit","exit_code":0}`. The process runs
 * on when the client disconnects, unless the client has sent `{"type":"end_with_connection"}`. Returns the reason for a
 * refusal.
 */
export function attachTo(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  { path, pause, processes }: AttachTarget,
): Refusal | undefined {
  const problem = checkUpgrade(request);
  if (problem !== undefined)
    return { status: 400, code: "bad_request", message: `Invalid WebSocket handshake: ${problem}.` };
  const id = attachPath.exec(path)?.[1];
  if (id === undefined)
    return { status: 404, code: "not_found", message: `No WebSocket endpoint has the path ${path.slice(0, 200)}.` };
  let process: NamedProcess;
  try {
    process = processes.find(id);
  } catch (error) {
    if (!ServiceError.isInstance(error)) throw error;
    return error;
  }
  if (process.resize === undefined) {
    const hint = "Start it with allocate_tty, or follow its output with browsers.process.stdoutStream.";
    return { status: 400, code: "bad_request", message: `The process has no terminal. ${hint}`, hint };
  }
  let output: Output;
  try {
    output = process.output.read(undefined);
  } catch (error) {
    if (!ServiceError.isInstance(error)) throw error;
    return error;
  }
  new Attachment(acceptWebSocket(request, socket, head, maxMessageBytes), { process, output, pause }).start();
  return undefined;
}

type Output = ReturnType<NamedProcess["output"]["read"]>;

class Attachment {
  readonly #client: WebSocket;
  readonly #process: NamedProcess;
  readonly #output: Output;
  readonly #pause: Pause;
  readonly #inputLock = pLimit(1);
  readonly #left = new AbortController();
  #endsProcess = false;

  constructor(
    client: WebSocket,
    { output, pause, process }: { readonly process: NamedProcess; readonly output: Output; readonly pause: Pause },
  ) {
    this.#client = client;
    this.#pause = pause;
    this.#process = process;
    this.#output = output;
  }

  start(): void {
    const client = this.#client;
    client.on("message", (data, isBinary) => {
      if (client.readyState !== client.OPEN) return;
      if (isBinary) this.#takeInput(bytesOf(data));
      else this.#takeControl(bytesOf(data));
    });
    client.on("close", () => {
      this.#left.abort();
      if (this.#endsProcess) this.#process.kill("SIGHUP");
      void this.#output.return?.();
    });
    this.#sendOutput().catch(() => {
      client.terminate();
    });
  }

  /** Stops reading from the client until the program has read its input, so that memory is bounded. */
  #takeInput(data: Buffer): void {
    if (data.length === 0) return;
    this.#client.pause();
    void this.#inputLock(async () => {
      try {
        await this.#write(data);
      } catch {
        // The process has ended; its exit is sent with the output.
      } finally {
        this.#client.resume();
      }
    });
  }

  async #write(data: Buffer): Promise<void> {
    const left = this.#left.signal;
    for (let written = 0; written < data.length && !left.aborted;) {
      if (this.#pause.refuses) {
        this.#client.close(1008, "handoff_active: a person controls this session; attach again after the handoff");
        return;
      }
      if (this.#pause.isActive) await this.#pause.whenOver();
      else
        written += await this.#pause.run((stop) =>
          this.#process.write(data.subarray(written), { close: false, signal: anySignal([left, stop]) }),
        );
    }
  }

  #takeControl(message: Buffer): void {
    const control = message.length > maxControlBytes ? undefined : readControl(message.toString());
    if (control === undefined)
      this.#client.close(1008, 'text messages must be {"type":"resize","cols":80,"rows":24}; send input as binary');
    else if (control === "end_with_connection") this.#endsProcess = true;
    else this.#process.resize?.(control.cols, control.rows);
  }

  async #sendOutput(): Promise<void> {
    const client = this.#client;
    for await (const frame of { [Symbol.asyncIterator]: () => this.#output }) {
      if (client.readyState !== client.OPEN) return;
      if (!("data" in frame)) continue;
      const { data_b64, event, exit_code } = frame.data;
      if (data_b64 !== undefined) await this.#send(Buffer.from(data_b64, "base64"));
      if (event === "exit") await this.#send(JSON.stringify({ type: "exit", exit_code }));
    }
    client.close(1000, "the process has ended");
  }

  /** Waits while the client is slow. The callback is also called when the connection ends. */
  async #send(message: string | Buffer): Promise<void> {
    const sent = Promise.withResolvers<void>();
    this.#client.send(message, () => {
      sent.resolve();
    });
    if (this.#client.bufferedAmount > maxBufferedBytes) await sent.promise;
  }
}

type Control = "end_with_connection" | { readonly cols: number; readonly rows: number };

function readControl(text: string): Control | undefined {
  try {
    const message: unknown = JSON.parse(text);
    if (typeof message !== "object" || message === null) return undefined;
    if ("type" in message && message.type === "end_with_connection") return "end_with_connection";
    if (!("type" in message && "cols" in message && "rows" in message)) return undefined;
    const { cols, rows, type } = message;
    return type === "resize" && isSize(cols) && isSize(rows) ? { cols, rows } : undefined;
  } catch {
    return undefined;
  }
}

function isSize(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= maxSize;
}
