import { BidiMapper } from "chromium-bidi";
import type { CdpGuard } from "../cdp/guard.ts";

type Client = BidiMapper.CdpClient;

/** A CDP connection as the mapper of WebDriver BiDi sees it. */
export interface MapperCdp extends BidiMapper.CdpConnection {
  readonly browser: Client;
  /** Takes a message of the browser. */
  receive(document: string): void;
  /** Fails whatever waits for the browser. */
  close(): void;
}

/** The browser, or the target, that a command was for is gone. */
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
  constructor(send: (method: string, params: unknown, sessionId: string | undefined) => Promise<unknown>, sessionId?: string) {
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

/**
 * @param options.send - sends a message to the browser.
 * @param options.onClose - called when the client has asked the browser to close, and was told that it has.
 */
export function createMapperCdp(options: { readonly guard: CdpGuard; send(document: string): void; onClose(): void }): MapperCdp {
  const pending = new Map<number, { readonly resolve: (result: unknown) => void; readonly reject: (error: Error) => void }>();
  const clients = new Map<string, SessionClient>();
  let nextId = 1;
  let closed = false;

  async function send(method: string, params: unknown, sessionId: string | undefined): Promise<unknown> {
    if (closed) throw new GoneError(`${method}: the browser is gone.`);
    const id = nextId++;
    const document = JSON.stringify({ id, method, params: params ?? {}, ...(sessionId !== undefined && { sessionId }) });
    const answered = Promise.withResolvers<unknown>();
    pending.set(id, answered);
    const guarded = options.guard(Buffer.from(document));
    const verdict = typeof guarded === "object" && "later" in guarded ? await guarded.later : guarded;
    if (verdict === "pass") options.send(document);
    else if (verdict !== "drop") {
      if ("replace" in verdict) options.send(verdict.replace);
      else if ("answer" in verdict) receive(verdict.answer);
      else {
        receive(verdict.answerAndClose);
        options.onClose();
      }
    }
    return answered.promise;
  }

  const browser = new SessionClient(send);

  function receive(document: string): void {
    // The browser's; what is used of it is looked at.
    const { id, method, params, sessionId, result, error } = JSON.parse(document) as Message;
    if (typeof id === "number") {
      const waiting = pending.get(id);
      pending.delete(id);
      if (error === undefined) waiting?.resolve(result);
      // -32001: the session is gone. The mapper reads code and message of others.
      else
        waiting?.reject(
          error.code === -32001 ? new GoneError(String(error.message)) : Object.assign(new Error(String(error.message)), { code: error.code }),
        );
      return;
    }
    if (typeof method !== "string") return;
    const client = typeof sessionId === "string" ? clients.get(sessionId) : browser;
    if (method === "Target.attachedToTarget") {
      const { sessionId: attached } = params as { readonly sessionId: string };
      if (!clients.has(attached)) clients.set(attached, new SessionClient(send, attached));
    }
    client?.emit(method, params);
    if (method === "Target.detachedFromTarget") clients.delete((params as { readonly sessionId: string }).sessionId);
  }

  // The mapper's interface names every CDP command and event with its types; these clients pass all of them on.
  const typed = (client: SessionClient) => client as unknown as Client;
  return {
    browser: typed(browser),
    getCdpClient(sessionId) {
      const client = clients.get(sessionId);
      if (client === undefined) throw new GoneError(`There is no CDP session ${sessionId}.`);
      return typed(client);
    },
    receive,
    close() {
      closed = true;
      for (const { reject } of pending.values()) reject(new GoneError("The browser is gone."));
      pending.clear();
    },
  };
}
