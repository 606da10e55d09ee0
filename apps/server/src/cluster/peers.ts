import { errorOf, hasCode } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { Agent, type IncomingMessage, request as httpRequest, type OutgoingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { type Duplex, pipeline, type Readable } from "node:stream";
import type { Log } from "../log/log.ts";
import type { Peer } from "./heartbeat.ts";
import { connectToPeer } from "./peer-connection.ts";
import { replicaHeader } from "../http/relay.ts";
import { type ReplicaTrust, type Vouched } from "./replica-trust.ts";

export interface PeerRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly vouched: Vouched;
  readonly signal?: AbortSignal;
}

export interface PeersParts {
  /** True if the database belongs to this server. */
  readonly isDatabaseOwn: boolean;
  readonly known: ReadonlyMap<string, Peer>;
  readonly refresh: () => Promise<void>;
  readonly trust: ReplicaTrust;
  readonly log: Log;
}

const maxIdle = 32;

function unreachable(serverId: string, why: string, cause?: unknown): ServiceError {
  const details = cause instanceof Error && cause.message !== "" ? ` ${cause.message.replace(/\.$/, "")}.` : "";
  return new ServiceError(
    503,
    "server_unreachable",
    `The server that has this session (${serverId}) ${why}.${details}`,
    {
      hint: "Retry: a server that does not answer is declared dead within 10 s, and its sessions end as instance_lost.",
      retryAfterSeconds: 2,
      cause,
    },
  );
}

export class Peers {
  readonly #isDatabaseOwn: boolean;
  readonly #known: ReadonlyMap<string, Peer>;
  readonly #refresh: () => Promise<void>;
  readonly #trust: ReplicaTrust;
  readonly #log: Log;
  /** By the life of the server: a restarted server gets new connections. */
  readonly #agents = new Map<string, Agent>();
  readonly #upgraded = new Map<string, Set<Socket>>();

  constructor(parts: PeersParts) {
    const { isDatabaseOwn, known, refresh, trust, log } = parts;
    this.#isDatabaseOwn = isDatabaseOwn;
    this.#known = known;
    this.#refresh = refresh;
    this.#trust = trust;
    this.#log = log;
  }

  /** @throws {ServiceError} 503 when it does not answer. */
  async request(
    serverId: string,
    { method, path, headers, vouched, signal }: PeerRequest,
    body?: Readable | string,
  ): Promise<IncomingMessage> {
    const peer = await this.#addressOf(serverId);
    const agent = this.#agentOf(peer);
    const { host, hostname } = new URL(peer.address);
    return await new Promise((resolve, reject) => {
      const send = (): void => {
        const outgoing = httpRequest({
          agent,
          host: hostname,
          method,
          path,
          headers: { ...headers, host, [replicaHeader]: this.#trust.vouch(serverId, { method, path }, vouched) },
          ...(signal && { signal }),
        });
        outgoing.once("response", resolve);
        outgoing.on("error", (error) => {
          const again =
            outgoing.reusedSocket &&
            body === undefined &&
            (method === "GET" || method === "HEAD") &&
            hasCode(error, "ECONNRESET") &&
            this.#known.has(serverId);
          if (signal?.aborted === true) reject(error);
          else if (again) send();
          else {
            this.#log.debug(
              { server_id: serverId, address: peer.address, err: error },
              "another server did not answer",
            );
            reject(unreachable(serverId, "does not answer", error));
          }
        });
        if (body === undefined || typeof body === "string") outgoing.end(body);
        else
          pipeline(body, outgoing, (error) => {
            if (error) outgoing.destroy(error);
          });
      };
      send();
    });
  }

  /** True if no session can be on another server. A server on a shared database never knows: another may have just started. */
  get isAlone(): boolean {
    return this.#isDatabaseOwn && this.#known.size === 0;
  }

  /** Opens a raw connection for upgrades. It closes when the server is declared dead. @throws {ServiceError} 503. */
  async connect(serverId: string): Promise<Duplex> {
    const peer = await this.#addressOf(serverId);
    let socket: Socket;
    try {
      socket = await connectToPeer(peer, this.#trust);
    } catch (error) {
      throw unreachable(serverId, "does not answer", error);
    }
    const open = this.#upgraded.get(peer.life) ?? new Set();
    this.#upgraded.set(peer.life, open.add(socket));
    socket.on("close", () => open.delete(socket));
    return socket;
  }

  vouch(...args: Parameters<ReplicaTrust["vouch"]>): string {
    return this.#trust.vouch(...args);
  }

  forget({ life }: Peer): void {
    this.#agents.get(life)?.destroy();
    this.#agents.delete(life);
    for (const socket of this.#upgraded.get(life) ?? []) socket.destroy();
    this.#upgraded.delete(life);
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    for (const sockets of this.#upgraded.values()) for (const socket of sockets) socket.destroy();
  }

  async #addressOf(
    serverId: string,
  ): Promise<{ readonly life: string; readonly id: string; readonly address: string }> {
    // The server may have started, or begun to listen, a moment ago.
    if (!this.#known.get(serverId)?.address) await this.#refresh();
    const peer = this.#known.get(serverId);
    if (peer === undefined) throw unreachable(serverId, "is not running");
    if (peer.address === null) throw unreachable(serverId, "has not published its address yet");
    return { life: peer.life, id: peer.id, address: peer.address };
  }

  #agentOf(peer: { readonly life: string; readonly id: string; readonly address: string }): Agent {
    let agent = this.#agents.get(peer.life);
    if (agent === undefined) {
      agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: maxIdle, scheduling: "lifo" });
      agent.createConnection = (_options, done) => {
        connectToPeer(peer, this.#trust).then(
          (socket) => done?.(null, socket),
          (error: unknown) => done?.(errorOf(error), undefined as never),
        );
        return undefined;
      };
      this.#agents.set(peer.life, agent);
    }
    return agent;
  }
}
