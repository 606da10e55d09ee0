import { once } from "node:events";
import { clickTimes, letters } from "./page.ts";
import type { BenchPage, Driver } from "./types.ts";

const connectMs = 30_000;
const answerMs = 30_000;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

interface Waiting {
  readonly resolve: (result: Readonly<Record<string, unknown>>) => void;
  readonly reject: (error: Error) => void;
}

/** One WebSocket, so that the command needs no browser library. */
class CdpSocket {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #events = new Map<string, () => void>();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      this.#read(JSON.parse(String(data)) as Message);
    });
    socket.addEventListener("close", () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("The CDP connection was closed."));
    });
  }

  static async open(url: string): Promise<CdpSocket> {
    const socket = new WebSocket(url);
    const signal = AbortSignal.timeout(connectMs);
    const failed = once(socket, "error", { signal }).then(() => {
      throw new Error("The CDP connection was refused.");
    });
    await Promise.race([once(socket, "open", { signal }), failed]).finally(() => {
      failed.catch(() => undefined);
    });
    return new CdpSocket(socket);
  }

  send(method: string, params: object = {}, sessionId?: string): Promise<Readonly<Record<string, unknown>>> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error(`${method} was not answered within ${String(answerMs / 1000)} s.`));
      }, answerMs);
      const settle =
        <Value>(settled: (value: Value) => void) =>
        (value: Value): void => {
          clearTimeout(timer);
          this.#waiting.delete(id);
          settled(value);
        };
      this.#waiting.set(id, { resolve: settle(resolve), reject: settle(reject) });
      this.#socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }));
    });
  }

  /** Resolves with the next event of this name. */
  event(method: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`No ${method} within ${String(answerMs / 1000)} s.`));
      }, answerMs);
      this.#events.set(method, () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async close(): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    const closed = once(this.#socket, "close");
    this.#socket.close();
    await closed;
  }

  #read({ error, id, method, result = {} }: Message): void {
    if (method !== undefined) this.#events.get(method)?.();
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new Error(error.message));
  }
}

/** Drives pages with CDP commands alone. */
export class CdpDriver implements Driver {
  /** Connects to the front page of a browser. */
  async connect(cdpUrl: string): Promise<BenchPage> {
    const socket = await CdpSocket.open(cdpUrl);
    try {
      const { targetInfos } = (await socket.send("Target.getTargets")) as {
        targetInfos: { type: string; targetId: string }[];
      };
      const targetId =
        targetInfos.find(({ type }) => type === "page")?.targetId ??
        (await socket.send("Target.createTarget", { url: "about:blank" })).targetId;
      const { sessionId } = await socket.send("Target.attachToTarget", { targetId, flatten: true });
      await socket.send("Page.enable", {}, sessionId as string);
      return new CdpPage(socket, sessionId as string);
    } catch (error) {
      await socket.close();
      throw error;
    }
  }
}

class CdpPage implements BenchPage {
  readonly #socket: CdpSocket;
  readonly #sessionId: string;

  constructor(socket: CdpSocket, sessionId: string) {
    this.#socket = socket;
    this.#sessionId = sessionId;
  }

  async goto(url: string): Promise<void> {
    const loaded = this.#socket.event("Page.domContentEventFired");
    loaded.catch(() => undefined);
    const { errorText } = (await this.#send("Page.navigate", { url })) as { errorText?: string };
    if (errorText !== undefined) throw new Error(`The page did not load: ${errorText}.`);
    await loaded;
  }

  async tenActions(): Promise<void> {
    const { x, y } = (await this.#evaluate(
      "(({ x, y, width, height }) => ({ x: x + width / 2, y: y + height / 2 }))(more.getBoundingClientRect())",
    )) as { x: number; y: number };
    await this.#evaluate("field.focus()");
    for (let click = 0; click < clickTimes; click++)
      for (const type of ["mousePressed", "mouseReleased"])
        await this.#send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
    await this.#evaluate("field.focus()");
    for (const text of letters) await this.#send("Input.insertText", { text });
    const read = [
      await this.#evaluate("count.textContent"),
      await this.#evaluate("field.value"),
      await this.#evaluate("document.title"),
    ];
    if (Number(read[0]) < clickTimes || !String(read[1]).endsWith(letters) || read[2] !== "bench")
      throw new Error(`The actions had no effect: the page shows ${read.map(String).join(", ")}.`);
    await this.#send("Page.captureScreenshot", { format: "jpeg", quality: 60 });
  }

  disconnect(): Promise<void> {
    return this.#socket.close();
  }

  async #evaluate(expression: string): Promise<unknown> {
    const { result } = (await this.#send("Runtime.evaluate", { expression, returnByValue: true })) as {
      result: { value?: unknown };
    };
    return result.value;
  }

  #send(method: string, params: object): Promise<Readonly<Record<string, unknown>>> {
    return this.#socket.send(method, params, this.#sessionId);
  }
}
