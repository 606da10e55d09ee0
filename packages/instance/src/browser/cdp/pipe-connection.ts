import type { Readable, Writable } from "node:stream";
import type { Protocol } from "devtools-protocol/types/protocol.d.ts";
import type { ProtocolMapping } from "devtools-protocol/types/protocol-mapping.d.ts";
import { CborError, decodeCbor, encodeCbor, envelopeHeaderBytes, eventNameOf, messageBytesAt } from "./cbor.ts";

type Commands = ProtocolMapping.Commands;
type Events = ProtocolMapping.Events;

/** The order in which pages were opened. */
export interface PageOrder {
  newestOf(targetIds: readonly string[]): string | undefined;
}

/** The dialogs of all tabs, from the creation of each tab. */
export interface DialogWatch {
  /** Returns the session that reports and answers a tab's dialogs. */
  sessionOf(targetId: string): string | undefined;
  openOn(targetId: string): Protocol.Page.JavascriptDialogOpeningEvent | undefined;
}

export interface CdpConnection {
  /** Sends a command to an attached target, or to the browser without `sessionId`. @throws {CdpError} */
  send<M extends keyof Commands>(
    method: M,
    params?: Commands[M]["paramsType"][0],
    sessionId?: string,
  ): Promise<Commands[M]["returnType"]>;
  /** Calls `listener` for each event of that name, with the event's session. Returns a function that removes it. */
  on<E extends keyof Events>(
    event: E,
    listener: (params: Events[E][0], sessionId: string | undefined) => void,
  ): () => void;
  readonly closed: Promise<void>;
  /** For a headless shell. Here, because several files of the program contain a copy of each module. */
  pageOrder?: PageOrder;
  /** For a full Chromium. */
  dialogs?: DialogWatch;
}

const cdpErrorMarker = Symbol.for("shoal.error.CdpError");

export class CdpError extends Error {
  override readonly name = "CdpError";
  readonly [cdpErrorMarker] = true;

  /** Several files of the program contain a copy of this class; `instanceof` works across them. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && cdpErrorMarker in value;
  }
}

/** In bytes: an incompressible screenshot of an 8K page. A longer one means a corrupt stream. */
const maxMessageBytes = 160 * 2 ** 20;

interface Pending {
  readonly method: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** A message from the browser. Every field is checked before use. */
interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly sessionId?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message?: unknown };
}

/**
 * Chromium's processes exchange CBOR internally; JSON would cost a busy browser a third more. Every command is rejected
 * once a stream has ended.
 */
export function connectPipe(commands: Writable, messages: Readable): CdpConnection {
  return new PipeConnection(commands, messages);
}

type Listener = (params: never, sessionId: string | undefined) => void;

class PipeConnection implements CdpConnection {
  pageOrder?: PageOrder;
  dialogs?: DialogWatch;
  readonly #commands: Writable;
  readonly #messages: Readable;
  readonly #pending = new Map<number, Pending>();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #gone = Promise.withResolvers<undefined>();
  #nextId = 1;
  #closed = false;
  #chunks: Buffer[] = [];
  #heldBytes = 0;
  #neededBytes = envelopeHeaderBytes;

  constructor(commands: Writable, messages: Readable) {
    this.#commands = commands;
    this.#messages = messages;
    messages.on("data", this.#hold);
    for (const stream of [commands, messages]) {
      // A browser that died shows as EPIPE here; the process reports its exit.
      stream.on("error", this.#close);
      stream.on("close", this.#close);
    }
  }

  get closed(): Promise<void> {
    return this.#gone.promise;
  }

  async send<M extends keyof Commands>(
    method: M,
    params?: Commands[M]["paramsType"][0],
    sessionId?: string,
  ): Promise<Commands[M]["returnType"]> {
    if (this.#closed) throw new CdpError(`${method}: the browser has ended.`);
    const id = this.#nextId++;
    const answered = Promise.withResolvers<unknown>();
    this.#pending.set(id, { method, resolve: answered.resolve, reject: answered.reject });
    this.#commands.write(encodeCbor({ id, method, params: params ?? {}, sessionId }));
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

  readonly #close = (): void => {
    if (this.#closed) return;
    this.#closed = true;
    for (const { method, reject } of this.#pending.values()) reject(new CdpError(`${method}: the browser has ended.`));
    this.#pending.clear();
    this.#listeners.clear();
    this.#gone.resolve(undefined);
  };

  readonly #hold = (chunk: Buffer): void => {
    this.#chunks.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes < this.#neededBytes) return;
    try {
      this.#takeComplete();
    } catch (error) {
      if (!(error instanceof CborError)) throw error;
      this.#messages.destroy();
    }
  };

  /** Processes the complete messages. @throws {CborError} when the stream is corrupt. */
  #takeComplete(): void {
    const [first] = this.#chunks;
    const bytes =
      this.#chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.#chunks, this.#heldBytes);
    let start = 0;
    this.#neededBytes = envelopeHeaderBytes;
    while (bytes.length - start >= envelopeHeaderBytes) {
      const length = messageBytesAt(bytes, start);
      if (length > maxMessageBytes) throw new CborError(`a message of ${String(length)} bytes`);
      this.#neededBytes = length;
      if (bytes.length - start < length) break;
      this.#neededBytes = envelopeHeaderBytes;
      start += length;
      this.#receive(bytes.subarray(start - length, start));
    }
    this.#heldBytes = bytes.length - start;
    this.#chunks = this.#heldBytes === 0 ? [] : [bytes.subarray(start)];
  }

  #receive(bytes: Buffer): void {
    // A busy page emits tens of thousands of events without a listener; decoding them would cost as much as all others.
    const name = eventNameOf(bytes);
    if (name !== undefined && (this.#listeners.get(name)?.size ?? 0) === 0) return;
    // The shape of CDP; fields are checked below.
    const message = decodeCbor(bytes) as Message;
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
