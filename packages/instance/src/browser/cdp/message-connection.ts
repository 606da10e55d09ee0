import type { ProtocolMapping } from "devtools-protocol/types/protocol-mapping.d.ts";
import { type CdpConnection, CdpError, type DialogWatch, type PageOrder } from "./cdp-connection.ts";

type Commands = ProtocolMapping.Commands;
type Events = ProtocolMapping.Events;
type Listener = (params: never, sessionId: string | undefined) => void;

export interface CdpCommand {
  readonly id: number;
  readonly method: string;
  readonly params: object;
  readonly sessionId: string | undefined;
}

/** An answer or event. Every field is checked before use. */
export interface CdpMessage {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly sessionId?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown };
}

interface Pending {
  readonly method: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Keeps the calls and listeners of a connection. Subclasses carry its messages. */
export abstract class MessageConnection implements CdpConnection {
  pageOrder?: PageOrder;
  dialogs?: DialogWatch;
  readonly #pending = new Map<number, Pending>();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #gone = Promise.withResolvers<undefined>();
  #nextId = 1;
  #isClosed = false;

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
    this.transmit({ id, method, params: params ?? {}, sessionId });
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

  protected abstract transmit(command: CdpCommand): void;

  protected hasListener(event: string): boolean {
    return (this.#listeners.get(event)?.size ?? 0) > 0;
  }

  protected take({ error, id, method, params, result, sessionId }: CdpMessage): void {
    if (typeof id === "number") {
      const waiting = this.#pending.get(id);
      this.#pending.delete(id);
      if (error === undefined) waiting?.resolve(result);
      else waiting?.reject(new CdpError(`${waiting.method}: ${String(error.message)}`, error.code));
    } else if (typeof method === "string") {
      const from = typeof sessionId === "string" ? sessionId : undefined;
      // `never`: `on` ties each listener to its event's parameters.
      for (const listener of this.#listeners.get(method) ?? []) listener(params as never, from);
    }
  }

  /** Rejects the open calls and all later ones. */
  protected end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { method, reject } of this.#pending.values()) reject(new CdpError(`${method}: the browser has ended.`));
    this.#pending.clear();
    this.#listeners.clear();
    this.#gone.resolve(undefined);
  }
}
