import type { Log } from "../log.ts";
import type { ReadCache } from "../read-cache.ts";
import type { KeyRow } from "./access.ts";
import { keyProblem } from "./key-problem.ts";

/** A stream or WebSocket that was opened with an API key, or with an address handed out to it. */
export interface KeyConnection {
  readonly keyId: string;
  /** Ends the connection and tells the client why. Repeated calls do nothing. */
  end(problem: string): void;
}

/** Half of the second within which connections of an invalid key end. */
const lookEveryMs = 500;

/**
 * Ends the connections of keys that were deleted or have expired. It looks at all open connections again and again, so that an expiry, a key
 * that became invalid while a connection was being set up, and a lost notification of the database all have the same effect.
 */
export class KeyWatch {
  readonly #keys: Pick<ReadCache<KeyRow>, "get">;
  readonly #connections: () => Iterable<KeyConnection>;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  readonly #checking = new Set<string>();

  /** @param parts.keys - looked up by id. */
  constructor(parts: { readonly keys: Pick<ReadCache<KeyRow>, "get">; readonly connections: () => Iterable<KeyConnection>; readonly log: Log }) {
    this.#keys = parts.keys;
    this.#connections = parts.connections;
    this.#log = parts.log;
    this.#timer = setInterval(() => {
      this.look();
    }, lookEveryMs).unref();
  }

  /** Checks the key of every open connection. A key in memory costs no query. */
  look(): void {
    const connections = new Map<string, KeyConnection[]>();
    for (const connection of this.#connections()) {
      const ofKey = connections.get(connection.keyId);
      if (ofKey === undefined) connections.set(connection.keyId, [connection]);
      else ofKey.push(connection);
    }
    for (const [keyId, ofKey] of connections) if (!this.#checking.has(keyId)) void this.#check(keyId, ofKey);
  }

  async #check(keyId: string, connections: readonly KeyConnection[]): Promise<void> {
    this.#checking.add(keyId);
    try {
      const problem = keyProblem(await this.#keys.get(keyId));
      if (problem === undefined) return;
      for (const connection of connections) connection.end(problem);
      this.#log.info({ key_id: keyId, connections: connections.length }, "connections of an invalid API key were ended");
    } catch (error) {
      // The database does not answer. The next look asks again.
      this.#log.debug({ key_id: keyId, err: error }, "an API key with open connections could not be checked");
    } finally {
      this.#checking.delete(keyId);
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
