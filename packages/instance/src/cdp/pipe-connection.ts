import type { Readable, Writable } from "node:stream";
import type { ProtocolMapping } from "devtools-protocol/types/protocol-mapping.d.ts";
import { CborError, decodeCbor, encodeCbor, envelopeHeaderBytes, eventNameOf, messageBytesAt } from "./cbor.ts";

type Commands = ProtocolMapping.Commands;
type Events = ProtocolMapping.Events;

/** The instance's own CDP connection to its browser. */
export interface CdpConnection {
  /**
   * Sends a command.
   *
   * @param sessionId - of an attached target; the browser itself when absent.
   * @throws {CdpError} when the browser refuses it, or is gone.
   */
  send<M extends keyof Commands>(method: M, params?: Commands[M]["paramsType"][0], sessionId?: string): Promise<Commands[M]["returnType"]>;
  /**
   * Calls `listener` for each event of that name, with the session that it belongs to.
   *
   * @returns stops that.
   */
  on<E extends keyof Events>(event: E, listener: (params: Events[E][0], sessionId: string | undefined) => void): () => void;
  /** Resolves when the browser is gone. */
  readonly closed: Promise<void>;
}

const cdpErrorMarker = Symbol.for("shoal.error.CdpError");

/** The browser refused a command, or is gone. */
export class CdpError extends Error {
  override readonly name = "CdpError";
  readonly [cdpErrorMarker] = true;

  /** The program consists of several files with a copy of this class each: `instanceof` holds across them. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && cdpErrorMarker in value;
  }
}

/** Longest message that is read, in bytes: a screenshot of an 8K page that cannot be compressed. More means that the stream is out of step. */
const maxMessageBytes = 160 * 2 ** 20;

interface Pending {
  readonly method: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** What a message from the browser may hold; every field is looked at before it is used. */
interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly sessionId?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message?: unknown };
}

/**
 * Speaks CDP over `--remote-debugging-pipe=cbor`. CBOR is what the browser's processes speak among themselves: written as JSON, a busy page's events would
 * cost the browser a third more. Every command is refused once a stream has ended.
 */
export function connectPipe(commands: Writable, messages: Readable): CdpConnection {
  const pending = new Map<number, Pending>();
  const listeners = new Map<string, Set<(params: never, sessionId: string | undefined) => void>>();
  let nextId = 1;
  let closed = false;
  const gone = Promise.withResolvers<undefined>();
  let chunks: Buffer[] = [];
  let heldBytes = 0;
  /** What must be there before it is worth looking again. */
  let neededBytes = envelopeHeaderBytes;

  function close(): void {
    if (closed) return;
    closed = true;
    for (const { method, reject } of pending.values()) reject(new CdpError(`${method}: the browser is gone.`));
    pending.clear();
    listeners.clear();
    gone.resolve(undefined);
  }

  function receive(bytes: Buffer): void {
    // A busy page makes tens of thousands of events that nobody listens for; reading them would cost as much as all others.
    const name = eventNameOf(bytes);
    if (name !== undefined && (listeners.get(name)?.size ?? 0) === 0) return;
    // The shape of CDP: unknown fields are checked below.
    const message = decodeCbor(bytes) as Message;
    if (typeof message.id === "number") {
      const waiting = pending.get(message.id);
      pending.delete(message.id);
      if (message.error === undefined) waiting?.resolve(message.result);
      else waiting?.reject(new CdpError(`${waiting.method}: ${String(message.error.message)}`));
    } else if (typeof message.method === "string") {
      const sessionId = typeof message.sessionId === "string" ? message.sessionId : undefined;
      // `never`: `on` has tied each listener to its event's parameters.
      for (const listener of listeners.get(message.method) ?? []) listener(message.params as never, sessionId);
    }
  }

  /** Receives the messages that are whole. @throws {CborError} where the stream is out of step. */
  function take(): void {
    const bytes = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, heldBytes);
    let start = 0;
    neededBytes = envelopeHeaderBytes;
    while (bytes.length - start >= envelopeHeaderBytes) {
      const length = messageBytesAt(bytes, start);
      if (length > maxMessageBytes) throw new CborError(`a message of ${String(length)} bytes`);
      neededBytes = length;
      if (bytes.length - start < length) break;
      neededBytes = envelopeHeaderBytes;
      start += length;
      receive(bytes.subarray(start - length, start));
    }
    heldBytes = bytes.length - start;
    chunks = heldBytes === 0 ? [] : [bytes.subarray(start)];
  }

  messages.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes < neededBytes) return;
    try {
      take();
    } catch (error) {
      if (!(error instanceof CborError)) throw error;
      messages.destroy();
    }
  });
  for (const stream of [commands, messages]) {
    // A browser that died shows as EPIPE here; its exit is reported by the process itself.
    stream.on("error", close);
    stream.on("close", close);
  }

  return {
    send: async (method, params, sessionId) => {
      if (closed) throw new CdpError(`${method}: the browser is gone.`);
      const id = nextId++;
      const answered = Promise.withResolvers<unknown>();
      pending.set(id, { method, resolve: answered.resolve, reject: answered.reject });
      commands.write(encodeCbor({ id, method, params: params ?? {}, sessionId }));
      // `never` fits every command's result; the browser's answers are taken as devtools-protocol describes them.
      return (await answered.promise) as never;
    },
    on(event, listener) {
      const known = listeners.get(event) ?? new Set();
      listeners.set(event, known.add(listener));
      return () => {
        known.delete(listener);
      };
    },
    closed: gone.promise,
  };
}
