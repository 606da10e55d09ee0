import { createBrowser, deleteBrowser } from "@shoal/contract";
import type { Browser, CreateBrowser } from "@shoal/schemas";
import { ApiError, type CallOptions, type Transport } from "@shoal/transport";

/** Statuses of a start for which the end of another browser may make room: a name, a limit, a disk or a server. */
const endsOfRoom: ReadonlySet<number> = new Set([409, 429, 507, 529]);

/** The session of one connection. Starts on first use and ends with the connection. */
export class OwnBrowser {
  readonly #transport: Transport;
  readonly #defaults: CreateBrowser;
  readonly #attachedId: string | undefined;
  /** Of `use`. */
  #starting: Promise<string> | undefined;
  /** The last start or end. */
  #turn: Promise<unknown> = Promise.resolve();
  #id: string | undefined;
  /** Whether it saves to a profile at its end. */
  #saves = false;
  #isClosed = false;
  #unannounced: string | undefined;

  /** @param attachedId - a session of the caller, which this class never ends. */
  constructor(transport: Transport, defaults: CreateBrowser, attachedId?: string) {
    this.#transport = transport;
    this.#defaults = defaults;
    this.#attachedId = attachedId;
    this.#id = attachedId;
  }

  /** `undefined` before the first use and after its end. */
  get id(): string | undefined {
    return this.#id;
  }

  /** Returns the browser that `use` started, once. Models must know that it has no earlier pages. */
  takeNews(): string | undefined {
    const id = this.#unannounced;
    this.#unannounced = undefined;
    return id;
  }

  /** Concurrent callers share the start, so that the abort of one does not fail the others. */
  async use({ signal }: CallOptions): Promise<string> {
    if (this.#id !== undefined) return this.#id;
    this.#starting ??= this.#inTurn(() => this.#startUnlessRunning()).finally(() => {
      this.#starting = undefined;
    });
    return raced(this.#starting, signal);
  }

  /** Starts another browser and ends the one before, which stays if the other one cannot start. */
  replace(options: CreateBrowser, { signal }: CallOptions): Promise<Browser> {
    const replaced = this.#inTurn(async () => {
      const before = this.#id;
      // The other browser may start from what this one saves at its end.
      if (before === undefined || before === this.#attachedId || (this.#saves && options.profile !== undefined)) {
        await this.#endRunning();
        return this.#start(options);
      }
      try {
        const browser = await this.#start(options);
        // The idle timeout ends it otherwise.
        await this.#delete(before).catch(() => undefined);
        return browser;
      } catch (error) {
        if (!ApiError.isInstance(error) || !endsOfRoom.has(error.status)) throw error;
        await this.#endRunning();
        return this.#start(options);
      }
    });
    return raced(replaced, signal);
  }

  /** Follow-up calls start a new one. */
  forget(id: string): void {
    if (this.#id === id && id !== this.#attachedId) this.#id = undefined;
  }

  /** @returns whether a browser was running. */
  end(): Promise<boolean> {
    return this.#inTurn(() => this.#endRunning());
  }

  /** Ends the browser for good. A failure is ignored, because the idle timeout ends it later. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.end().catch(() => undefined);
  }

  /** Starts and ends follow each other, so that each end finds the browser of the start before it. */
  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #startUnlessRunning(): Promise<string> {
    if (this.#id !== undefined) return this.#id;
    const { session_id } = await this.#start({});
    this.#unannounced = session_id;
    return session_id;
  }

  async #endRunning(): Promise<boolean> {
    const id = this.#id;
    this.#id = this.#attachedId;
    if (id === undefined || id === this.#attachedId) return false;
    await this.#delete(id);
    return true;
  }

  async #delete(id: string): Promise<void> {
    try {
      await this.#transport.call(deleteBrowser, { params: { id_or_name: id } });
    } catch (error) {
      if (!ApiError.isInstance(error) || error.status !== 404) throw error;
    }
  }

  async #start(options: CreateBrowser): Promise<Browser> {
    if (this.#isClosed) throw new Error("The connection is closed.");
    const body = { ...this.#defaults, ...options };
    const browser = await this.#transport.call(createBrowser, { body });
    this.#id = browser.session_id;
    this.#saves = body.profile?.save_changes === true;
    return browser;
  }
}

function raced<Value>(promise: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener("abort", abort);
    });
  });
}
