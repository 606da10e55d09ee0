import type { ProtocolMapping } from "devtools-protocol/types/protocol-mapping.d.ts";
import { type CdpConnection, CdpError, type DialogWatch, type PageOrder } from "../cdp/pipe-connection.ts";
import { ContextClient, type ContextClientOptions } from "./context-client.ts";

type Commands = ProtocolMapping.Commands;
type Events = ProtocolMapping.Events;
type Listener = (params: never, sessionId: string | undefined) => void;

interface Pending {
  readonly method: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** From the gateway; fields are checked before use. */
interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly sessionId?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message?: unknown };
}

/** The instance's own connection for a session of a shared browser. The same rules apply to it as to clients. */
export class ContextConnection implements CdpConnection {
  pageOrder?: PageOrder;
  dialogs?: DialogWatch;
  readonly #client: ContextClient;
  readonly #pending = new Map<number, Pending>();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #gone = Promise.withResolvers<undefined>();
  #nextId = 1;
  #isClosed = false;

  constructor(options: Pick<ContextClientOptions, "endpoint" | "scope">) {
    this.#client = new ContextClient({
      ...options,
      onMessage: (message) => {
        this.#receive(message);
      },
      onClosed: () => {
        this.#close();
      },
    });
  }

  get closed(): Promise<void> {
    return this.#gone.promise;
  }

  async send<M extends keyof Commands>(
    method: M,
    params?: Commands[M]["paramsType"][0],
    sessionId?: string,
  ): Promise<Commands[M]["returnType"]> {
    if (this.#isClosed) throw new CdpError(`${method}: the browser has ended.`);
    const id = this.#nextId++;
    const answered = Promise.withResolvers<unknown>();
    this.#pending.set(id, { method, resolve: answered.resolve, reject: answered.reject });
    this.#client.send(JSON.stringify({ id, method, params: params ?? {}, sessionId }));
    // `never` fits every command's result; answers are trusted to follow devtools-protocol.
    return (await answered.promise) as never;
  }

  on<E extends keyof Events>(
    event: E,
    listener: (params: Events[E][0], sessionId: string | undefined) => void,
  ): () => void {
    const known = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, known.add(listener));
    return () => {
      known.delete(listener);
    };
  }

  close(): void {
    this.#client.close("the session ends");
  }

  #close(): void {
    this.#isClosed = true;
    for (const { method, reject } of this.#pending.values()) reject(new CdpError(`${method}: the browser has ended.`));
    this.#pending.clear();
    this.#listeners.clear();
    this.#gone.resolve(undefined);
  }

  #receive(text: string): void {
    const message = JSON.parse(text) as Message;
    if (typeof message.id === "number") {
      const waiting = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      if (message.error === undefined) waiting?.resolve(message.result);
      else waiting?.reject(new CdpError(`${waiting.method}: ${String(message.error.message)}`));
    } else if (typeof message.method === "string") {
      const sessionId = typeof message.sessionId === "string" ? message.sessionId : undefined;
      // `never`: `on` ties each listener to its event's parameters.
      for (const listener of this.#listeners.get(message.method) ?? []) listener(message.params as never, sessionId);
    }
  }
}
