import { ServiceError } from "@shoal/router";
import { Agent, type IncomingMessage, request as httpRequest, type OutgoingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { type Duplex, pipeline, type Readable } from "node:stream";
import type { Log } from "../log.ts";
import type { Peer } from "../service/heartbeat.ts";
import { connectToPeer } from "./peer-connection.ts";
import { replicaHeader, type ReplicaTrust, type Vouched } from "./replica-trust.ts";

/** A request to another server, on behalf of a client. */
export interface PeerRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: OutgoingHttpHeaders;
  readonly vouched: Vouched;
  /** Ends the request and, once it is there, the answer. */
  readonly signal?: AbortSignal;
}

/** Connections to the other servers of this installation, kept while there is use for them. */
export interface Peers {
  /** Whether there is any other server, as far as this one knows. */
  readonly isAlone: boolean;
  /** @throws {ServiceError} 503 when it does not answer. */
  request(serverId: string, request: PeerRequest, body?: Readable | string): Promise<IncomingMessage>;
  /** A raw connection, for upgrades. Ends when the server is given up. @throws {ServiceError} 503. */
  connect(serverId: string): Promise<Duplex>;
  vouch: ReplicaTrust["vouch"];
  /** Ends every connection to a server that is gone. */
  forget(peer: Peer): void;
  close(): void;
}

/** Idle connections to one server. */
const maxIdle = 32;

function unreachable(serverId: string, why: string, cause?: unknown): ServiceError {
  const details = cause instanceof Error && cause.message !== "" ? ` ${cause.message.replace(/\.$/, "")}.` : "";
  return new ServiceError(
    503,
    "server_unreachable",
    `The server that has this session (${serverId}) ${why}.${details} Repeat the request: a server that stays silent is given up within 10 s, and its sessions end as instance_lost.`,
    { retryAfterSeconds: 2, cause },
  );
}

/** @param parts.refresh - brings `known` up to date at once. */
export function createPeers(parts: {
  readonly known: ReadonlyMap<string, Peer>;
  readonly refresh: () => Promise<void>;
  readonly trust: ReplicaTrust;
  readonly log: Log;
}): Peers {
  const { known, refresh, trust, log } = parts;
  /** By the life of the server: a server that has begun anew has new connections. */
  const agents = new Map<string, Agent>();
  const upgraded = new Map<string, Set<Socket>>();

  async function addressOf(serverId: string): Promise<{ readonly life: string; readonly id: string; readonly address: string }> {
    // One that has just started, or has just begun to listen.
    if (!known.get(serverId)?.address) await refresh();
    const peer = known.get(serverId);
    if (peer === undefined) throw unreachable(serverId, "does not run now");
    if (peer.address === null) throw unreachable(serverId, "has not said where it is reached: it starts, or is of an earlier version");
    return { life: peer.life, id: peer.id, address: peer.address };
  }

  function agentOf(peer: { readonly life: string; readonly id: string; readonly address: string }): Agent {
    let agent = agents.get(peer.life);
    if (agent === undefined) {
      agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: maxIdle, scheduling: "lifo" });
      agent.createConnection = (_options, done) => {
        connectToPeer(peer, trust).then(
          (socket) => done?.(null, socket),
          (error: unknown) => done?.(error instanceof Error ? error : new Error(String(error)), undefined as never),
        );
        return undefined;
      };
      agents.set(peer.life, agent);
    }
    return agent;
  }

  async function request(
    serverId: string,
    { method, path, headers, vouched, signal }: PeerRequest,
    body?: Readable | string,
  ): Promise<IncomingMessage> {
    const peer = await addressOf(serverId);
    const agent = agentOf(peer);
    const { host, hostname } = new URL(peer.address);
    return await new Promise((resolve, reject) => {
      const send = (): void => {
        const outgoing = httpRequest({
          agent,
          host: hostname,
          method,
          path,
          headers: { ...headers, host, [replicaHeader]: trust.vouch(serverId, { method, path }, vouched) },
          ...(signal && { signal }),
        });
        outgoing.once("response", resolve);
        outgoing.on("error", (error) => {
          // A kept connection that the other server closed at this very moment.
          const again =
            outgoing.reusedSocket &&
            body === undefined &&
            (method === "GET" || method === "HEAD") &&
            "code" in error &&
            error.code === "ECONNRESET" &&
            known.has(serverId);
          if (signal?.aborted === true) reject(error);
          else if (again) send();
          else {
            log.debug({ server_id: serverId, address: peer.address, err: error }, "another server did not answer");
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

  return {
    get isAlone() {
      return known.size === 0;
    },
    request,
    async connect(serverId) {
      const peer = await addressOf(serverId);
      let socket: Socket;
      try {
        socket = await connectToPeer(peer, trust);
      } catch (error) {
        throw unreachable(serverId, "does not answer", error);
      }
      const open = upgraded.get(peer.life) ?? new Set();
      upgraded.set(peer.life, open.add(socket));
      socket.on("close", () => open.delete(socket));
      return socket;
    },
    vouch: (to, request, vouched) => trust.vouch(to, request, vouched),
    forget({ life }) {
      agents.get(life)?.destroy();
      agents.delete(life);
      for (const socket of upgraded.get(life) ?? []) socket.destroy();
      upgraded.delete(life);
    },
    close() {
      for (const agent of agents.values()) agent.destroy();
      for (const sockets of upgraded.values()) for (const socket of sockets) socket.destroy();
    },
  };
}
