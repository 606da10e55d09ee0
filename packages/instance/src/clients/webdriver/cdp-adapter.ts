import { BidiMapper } from "chromium-bidi";
import type { CdpGuard } from "../cdp/guard.ts";

type Client = BidiMapper.CdpClient;

class GoneError extends Error {
  override readonly name = "GoneError";
}

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly sessionId?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message?: unknown; readonly code?: unknown };
}

class SessionClient extends BidiMapper.EventEmitter<Record<string, unknown>> {
  readonly sessionId: string | undefined;
  readonly #send: (method: string, params: unknown, sessionId: string | undefined) => Promise<unknown>;
  constructor(
    send: (method: string, params: unknown, sessionId: string | undefined) => Promise<unknown>,
    sessionId?: string,
  ) {
    super();
    this.#send = send;
    this.sessionId = sessionId;
  }
  sendCommand(method: string, params?: unknown): Promise<unknown> {
    return this.#send(method, params, this.sessionId);
  }
  isCloseError(error: unknown): boolean {
    return error instanceof GoneError;
  }
}

export interface MapperCdpOptions {
  readonly guard: CdpGuard;
  send(document: string): void;
  /** Called after a client's request to close the browser was answered. */
  onClose(): void;
}

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class MapperCdp implements BidiMapper.CdpConnection {
  readonly #options: MapperCdpOptions;
  readonly #pending = new Map<number, Pending>();
  readonly #clients = new Map<string, SessionClient>();
  readonly #browser: SessionClient;
  #nextId = 1;
  #closed = false;

  constructor(options: MapperCdpOptions) {
    this.#options = options;
    this.#browser = new SessionClient(this.#send);
  }

  get browser(): Client {
    return typed(this.#browser);
  }

  getCdpClient(sessionId: string): Client {
    const client = this.#clients.get(sessionId);
    if (client === undefined) throw new GoneError(`Unknown CDP session ${sessionId}.`);
    return typed(client);
  }

  receive(document: string): void {
    // From the browser; fields are checked before use.
    const message = JSON.parse(document) as Message;
    if (typeof message.id === "number") this.#answered(message.id, message);
    else if (typeof message.method === "string") this.#emit(message.method, message);
  }

  close(): void {
    this.#closed = true;
    for (const { reject } of this.#pending.values()) reject(new GoneError("The browser has ended."));
    this.#pending.clear();
  }

  readonly #send = async (method: string, params: unknown, sessionId: string | undefined): Promise<unknown> => {
    if (this.#closed) throw new GoneError(`${method}: the browser has ended.`);
    const id = this.#nextId++;
    const document = JSON.stringify({
      id,
      method,
      params: params ?? {},
      ...(sessionId !== undefined && { sessionId }),
    });
    const answered = Promise.withResolvers<unknown>();
    // The browser may end while the guard decides.
    answered.promise.catch(() => undefined);
    this.#pending.set(id, answered);
    await this.#sendGuarded(document);
    return answered.promise;
  };

  async #sendGuarded(document: string): Promise<void> {
    const guarded = this.#options.guard(Buffer.from(document));
    const verdict = typeof guarded === "object" && "later" in guarded ? await guarded.later : guarded;
    if (verdict === "drop") return;
    if (verdict === "pass") this.#options.send(document);
    else if ("replace" in verdict) this.#options.send(verdict.replace);
    else if ("answer" in verdict) this.receive(verdict.answer);
    else {
      this.receive(verdict.answerAndClose);
      this.#options.onClose();
    }
  }

  #answered(id: number, { result, error }: Message): void {
    const waiting = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) waiting?.resolve(result);
    // -32001: the session has ended. The mapper reads code and message of other errors.
    else
      waiting?.reject(
        error.code === -32001
          ? new GoneError(String(error.message))
          : Object.assign(new Error(String(error.message)), { code: error.code }),
      );
  }

  #emit(method: string, { params, sessionId }: Message): void {
    const client = typeof sessionId === "string" ? this.#clients.get(sessionId) : this.#browser;
    if (method === "Target.attachedToTarget") {
      const { sessionId: attached } = params as { readonly sessionId: string };
      if (!this.#clients.has(attached)) this.#clients.set(attached, new SessionClient(this.#send, attached));
    }
    client?.emit(method, params);
    if (method === "Target.detachedFromTarget")
      this.#clients.delete((params as { readonly sessionId: string }).sessionId);
  }
}

/** The mapper's interface types every CDP command and event; these clients forward all of them. */
function typed(client: SessionClient): Client {
  return client as unknown as Client;
}
