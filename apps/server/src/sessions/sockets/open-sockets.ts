import type { Duplex } from "node:stream";
import type { KeyConnection } from "../../http/auth/key-watch.ts";
import type { ClientLink } from "./client-link.ts";
import { closeOf } from "./close-reason.ts";

/** Policy violation (RFC 6455). */
const invalidKeyCode = 1008;

export interface OpenSocket {
  isForwarded?: boolean;
  /** The connection depends on this key. Absent if another server forwarded it and watches the key. */
  keyId?: string;
  /** Present once the WebSocket is open. */
  link?: ClientLink;
}

export class OpenSockets {
  readonly #open = new Map<Duplex, OpenSocket>();

  add(socket: Duplex): OpenSocket {
    const entry: OpenSocket = {};
    this.#open.set(socket, entry);
    socket.on("close", () => this.#open.delete(socket));
    return entry;
  }

  get(socket: Duplex): OpenSocket | undefined {
    return this.#open.get(socket);
  }

  count(): number {
    return this.#open.size;
  }

  /** Yields the connections that depend on an API key that this server checks. */
  *keyConnections(): Generator<KeyConnection> {
    for (const [socket, { keyId, link }] of this.#open) {
      if (keyId === undefined) continue;
      yield {
        keyId,
        end(problem) {
          if (link === undefined) socket.destroy();
          else link.close(invalidKeyCode, problem);
        },
      };
    }
  }

  close(): void {
    for (const [socket, { link }] of this.#open) {
      if (link === undefined) socket.destroy();
      else link.close(...closeOf("server_stopped"));
    }
  }
}
