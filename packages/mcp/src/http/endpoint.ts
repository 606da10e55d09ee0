import { createMcpHandler, isJsonContentType, isLegacyRequest } from "@modelcontextprotocol/server";
import { createServer } from "../server/create-server.ts";
import type { Caller } from "./caller.ts";
import { Connection } from "./connection.ts";

/** Options of {@link McpEndpoint}. */
export interface McpEndpointOptions {
  readonly version: string;
  /** Returns an unguessable id for a new connection. */
  readonly createId: () => string;
  readonly maxConnections: number;
  readonly maxConnectionsPerKey: number;
  /** A connection without requests and open streams ends after this time. */
  readonly idleMs: number;
  readonly onError: (error: Error) => void;
}

const sessionHeader = "mcp-session-id";
const sweepMs = 5000;

/**
 * Streamable HTTP for every revision of the protocol. Clients of 2026-07-28 have no state here: their tools take a
 * session. Older clients have a {@link Connection} with its own browser.
 */
export class McpEndpoint {
  readonly #options: McpEndpointOptions;
  readonly #connections = new Map<string, Connection>();
  readonly #sweep: NodeJS.Timeout;
  #isClosed = false;

  constructor(options: McpEndpointOptions) {
    this.#options = options;
    this.#sweep = setInterval(
      () => {
        for (const connection of this.#connections.values())
          if (connection.idleMs >= options.idleMs) void this.#end(connection);
      },
      Math.min(sweepMs, options.idleMs),
    ).unref();
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** The request must be authenticated. */
  async handle(request: Request, caller: Caller): Promise<Response> {
    if (request.method === "POST" && !isJsonContentType(request.headers.get("content-type")))
      return refusal(415, "Send the message as application/json.");
    return (await isLegacyRequest(request))
      ? this.#handleConnected(request, caller)
      : this.#handleAlone(request, caller);
  }

  /** Ends all connections and their browsers. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweep);
    await Promise.all([...this.#connections.values()].map((connection) => this.#end(connection)));
  }

  async #handleAlone(request: Request, { connect, mayCall, settings }: Caller): Promise<Response> {
    const { onError, version } = this.#options;
    const transport = connect();
    const handler = createMcpHandler(() => createServer({ transport, settings, mayCall, own: undefined, version }), {
      legacy: "reject",
      onerror: onError,
    });
    return handler.fetch(request);
  }

  async #handleConnected(request: Request, caller: Caller): Promise<Response> {
    const id = request.headers.get(sessionHeader);
    if (id === null) return this.#open(request, caller);
    const connection = this.#connections.get(id);
    // The same answer for other keys, so that a key cannot find out which connections exist.
    if (connection?.serves(caller) !== true)
      return refusal(404, "The MCP session has ended or is unknown. Send initialize without Mcp-Session-Id.");
    return connection.handle(request);
  }

  async #open(request: Request, caller: Caller): Promise<Response> {
    const { createId, maxConnections, maxConnectionsPerKey, version } = this.#options;
    if (request.method !== "POST") return refusal(400, "Send the Mcp-Session-Id of the initialize response.");
    if (this.#isClosed || this.#connections.size >= maxConnections)
      return refusal(503, `The server has its maximum of ${String(maxConnections)} MCP sessions. Try again later.`);
    const ofKey = [...this.#connections.values()].filter(({ keyId }) => keyId === caller.keyId);
    if (ofKey.length >= maxConnectionsPerKey)
      return refusal(
        429,
        `The API key has its maximum of ${String(maxConnectionsPerKey)} MCP sessions. End some with DELETE.`,
      );
    const id = createId();
    const connection = new Connection(id, caller, {
      version,
      onClosed: () => {
        this.#connections.delete(id);
      },
    });
    this.#connections.set(id, connection);
    try {
      await connection.open();
      return await connection.handle(request);
    } finally {
      if (!connection.isEstablished) await this.#end(connection);
    }
  }

  async #end(connection: Connection): Promise<void> {
    this.#connections.delete(connection.id);
    await connection.close();
  }
}

/** An error of the protocol. Clients show its message. */
export function refusal(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null }, { status, headers });
}
