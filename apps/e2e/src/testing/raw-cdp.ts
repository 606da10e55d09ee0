import { waitLimitMs } from "@shoal/testkit";
import { WebSocket } from "ws";

export interface CdpAnswer {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
  readonly sessionId?: string;
}

/** A CDP client that sends anything, and keeps every message that it receives. */
export class RawCdp implements Disposable {
  readonly received: string[] = [];
  readonly events: CdpAnswer[] = [];
  readonly closed: Promise<number>;
  readonly #socket: WebSocket;
  readonly #pending = new Map<number, (answer: CdpAnswer) => void>();
  #nextId = 1;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.on("close", resolve));
    socket.on("error", () => undefined);
    socket.on("message", (data: Buffer) => {
      const text = data.toString();
      this.received.push(text);
      const message = JSON.parse(text) as CdpAnswer;
      if (message.id === undefined) this.events.push(message);
      else this.#pending.get(message.id)?.(message);
    });
  }

  /** Never rejects for an error of the browser; resolves with `undefined` if it does not answer in time. */
  send(
    method: string,
    params: object = {},
    sessionId?: string,
    timeoutMs = waitLimitMs,
  ): Promise<CdpAnswer | undefined> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs, undefined);
      this.#pending.set(id, (answer) => {
        clearTimeout(timer);
        this.#pending.delete(id);
        resolve(answer);
      });
      this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
    });
  }

  /** @returns the result. @throws for an error of the browser. */
  async result(method: string, params: object = {}, sessionId?: string): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.send(method, params, sessionId);
    if (answer?.result === undefined) throw new Error(`${method}: ${answer?.error?.message ?? "no answer"}`);
    return answer.result;
  }

  async evaluate(expression: string, sessionId: string): Promise<unknown> {
    const { result } = await this.result(
      "Runtime.evaluate",
      { expression, awaitPromise: true, returnByValue: true, userGesture: true },
      sessionId,
    );
    return (result as { readonly value?: unknown }).value;
  }

  /** Reads nothing from now on. */
  pause(): void {
    this.#socket.pause();
  }

  [Symbol.dispose](): void {
    this.#socket.terminate();
  }
}

export async function openCdp(address: string): Promise<RawCdp> {
  const socket = new WebSocket(address, { perMessageDeflate: false, maxPayload: 256 * 2 ** 20 });
  const client = new RawCdp(socket);
  await new Promise((resolve, reject) => {
    socket.on("open", resolve);
    socket.on("error", reject);
    socket.on("close", reject);
  });
  return client;
}
