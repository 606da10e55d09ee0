import type { Log } from "../../log/log.ts";
import type { ReadCache } from "../../storage/read-cache.ts";
import type { KeyRow } from "./access.ts";
import { keyProblem } from "./key-problem.ts";

/** A stream or WebSocket that depends on an API key, directly or through a URL issued to it. */
export interface KeyConnection {
  readonly keyId: string;
  /** Ends the connection and sends the client the reason. Later calls do nothing. */
  end(problem: string): void;
}

const lookEveryMs = 500;

/**
 * Ends the connections of deleted and expired keys. Polling also covers lost notifications, and keys that become
 * invalid while a connection is being set up.
 */
export class KeyWatch {
  readonly #keys: Pick<ReadCache<KeyRow>, "get">;
  readonly #connections: () => Iterable<KeyConnection>;
  readonly #log: Log;
  readonly #timer: NodeJS.Timeout;
  readonly #checking = new Set<string>();

  constructor(parts: {
    readonly keys: Pick<ReadCache<KeyRow>, "get">;
    readonly connections: () => Iterable<KeyConnection>;
    readonly log: Log;
  }) {
    this.#keys = parts.keys;
    this.#connections = parts.connections;
    this.#log = parts.log;
    this.#timer = setInterval(() => {
      this.look();
    }, lookEveryMs).unref();
  }

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
      this.#log.info(
        { key_id: keyId, connections: connections.length },
        "connections of an invalid API key were ended",
      );
    } catch (error) {
      this.#log.debug({ key_id: keyId, err: error }, "an API key with open connections could not be checked");
    } finally {
      this.#checking.delete(keyId);
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
