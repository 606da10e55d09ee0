import type { EgressDecision, EgressPolicy, ResolvedAddress } from "./egress-policy.ts";
import { type EgressUpstream, type ParsedUpstream, parseUpstream, trusting } from "./egress-upstream.ts";
import type { PlacementLog } from "./placement.ts";
import { RequestError, Server as ProxyServer } from "proxy-chain";
import type { lookup } from "node:dns";
import { chmod } from "node:fs/promises";
import { Agent, type IncomingMessage } from "node:http";
import { Agent as TlsAgent } from "node:https";
import { createServer, isIP, type LookupFunction, type Socket } from "node:net";

/** One session's way out: an HTTP proxy on a Unix socket or named pipe. */
export interface EgressDoor {
  /**
   * Has everything leave by a proxy server from now on; `undefined` = from this host. Connections that are open are ended, or they would go on the old way.
   *
   * @throws {PlacementError} `bad_option` when its address cannot be read; nothing has changed then.
   */
  setUpstream(upstream: EgressUpstream | undefined): void;
  /** Ends the proxy and every connection through it. */
  /** Narrows what pages reach of the private hosts, from the next connection on. @throws {PlacementError} `bad_option`. */
  setPrivateHosts(hosts: readonly string[]): void;
  close(): Promise<void>;
}

/** Bytes of all sessions together, since the start. */
export interface EgressTraffic {
  /** From pages towards the network. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

export interface EgressGateway {
  traffic(): EgressTraffic;
  /** Opens a proxy at `path`, which only the owner of this process may use. `policy` is asked about every request and every tunnel. */
  open(path: string, policy: EgressPolicy): Promise<EgressDoor>;
}

/** Connections of one session at a time. Chromium itself keeps to 32 at one proxy, WebSockets apart. */
const maxConnections = 1024;

/** How long a name may take to be resolved here when a proxy resolves it anyway, in milliseconds. */
const secondLookMs = 2_000;

interface Door {
  /** The service's own. */
  readonly policy: EgressPolicy;
  /** What pages of the session may reach. */
  pages: EgressPolicy;
  upstream: ParsedUpstream | undefined;
  agents: Agents;
}

/** Not shared between sessions, or one could be given a connection on which another has authenticated itself. */
interface Agents {
  readonly httpAgent: Agent;
  readonly httpsAgent: TlsAgent;
}

/** @param upstream - what TLS connections lead to: Node would take the name of the page that a tunnel is asked for. Addresses have no server name. */
function newAgents(upstream: ParsedUpstream | undefined): Agents {
  const isName = upstream !== undefined && isIP(upstream.hostname.replace(/^\[|\]$/g, "")) === 0;
  return {
    httpAgent: new Agent({ keepAlive: true }),
    httpsAgent: new TlsAgent({ keepAlive: true, servername: isName ? upstream.hostname : "", ...trusting(upstream?.authorities) }),
  };
}

function destroyAgents({ httpAgent, httpsAgent }: Agents): void {
  httpAgent.destroy();
  httpsAgent.destroy();
}

/** `Server` header of what the gateway answers by itself. */
export const egressGatewayName = "Shoal egress gateway";

const plainText = { "Content-Type": "text/plain; charset=utf-8" };

/** Makes the place where what pages send leaves for the network. Names are resolved here, and a connection goes to the address that was checked. */
export function createEgressGateway(log: PlacementLog): EgressGateway {
  const doors = new WeakMap<Socket, Door>();
  const open = new Set<Socket>();
  /** Of connections that were closed. */
  let sentBytes = 0;
  let receivedBytes = 0;
  const proxy = new ProxyServer({
    authRealm: egressGatewayName,
    async prepareRequestFunction({ request, hostname, port, isHttp }: { request: IncomingMessage; hostname: string; port: number; isHttp: boolean }) {
      const door = doors.get(request.socket);
      if (door === undefined) throw new RequestError("This connection belongs to no session.\n", 403);
      const { agents, pages, policy, upstream } = door;
      if (upstream !== undefined && !upstream.bypasses(hostname)) {
        const decision = await secondLook(pages.decide(hostname, port));
        if (decision !== undefined && !decision.allowed && decision.status !== 502) refuse(decision, hostname, port);
        const server = await policy.decide(upstream.hostname, upstream.port);
        if (!server.allowed) throw new RequestError(`The session's proxy cannot be used. ${server.message}`, 502, plainText);
        const url = upstream.urlFor(server.addresses[0]?.address ?? "");
        return { upstreamProxyUrl: url, dnsLookup: pinnedTo(server.addresses), ...agents };
      }
      const decision = await pages.decide(hostname, port);
      if (!decision.allowed) refuse(decision, hostname, port);
      return { dnsLookup: pinnedTo(decision.addresses), ...(isHttp && { httpAgent: agents.httpAgent }) };
    },
  });

  function refuse({ message, status }: Extract<EgressDecision, { allowed: false }>, hostname: string, port: number): never {
    log.debug({ hostname, port, status }, message.trimEnd());
    throw new RequestError(message, status, plainText);
  }
  // An upload may take longer than Node's five minutes for a request.
  proxy.server.requestTimeout = 0;
  proxy.on("requestFailed", ({ error }: { error: Error }) => {
    log.warn({ error: error.message }, "The egress gateway failed a request.");
  });

  return {
    traffic() {
      const live = [...open];
      return {
        sentBytes: live.reduce((sum, socket) => sum + socket.bytesRead, sentBytes),
        receivedBytes: live.reduce((sum, socket) => sum + socket.bytesWritten, receivedBytes),
      };
    },
    async open(path, policy) {
      const door: Door = { policy, pages: policy, upstream: undefined, agents: newAgents(undefined) };
      const sockets = new Set<Socket>();
      // As node:http expects of its sockets: a client that has shut its side still waits for the answer.
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        sockets.add(socket);
        open.add(socket);
        socket.once("close", () => {
          sockets.delete(socket);
          open.delete(socket);
          sentBytes += socket.bytesRead;
          receivedBytes += socket.bytesWritten;
        });
        doors.set(socket, door);
        // proxy-chain drops a connection without this property, which Unix sockets have not.
        Object.defineProperty(socket, "remoteAddress", { value: "127.0.0.1" });
        proxy.server.emit("connection", socket);
      });
      server.maxConnections = maxConnections;
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(path, resolve);
      });
      if (process.platform !== "win32") await chmod(path, 0o600);
      return {
        setPrivateHosts(hosts) {
          door.pages = policy.narrowed(hosts);
        },
        setUpstream(upstream) {
          const parsed = upstream && parseUpstream(upstream);
          const old = door.agents;
          door.upstream = parsed;
          door.agents = newAgents(parsed);
          for (const socket of sockets) socket.destroy();
          destroyAgents(old);
        },
        close() {
          return new Promise((resolve) => {
            server.close(() => {
              resolve();
            });
            for (const socket of sockets) socket.destroy();
            destroyAgents(door.agents);
          });
        },
      };
    },
  };
}

/**
 * What this host thinks of a name that the proxy is going to resolve: private addresses of its own network stay out of reach. The proxy may find other
 * addresses, which nobody here sees. A name that takes long or is unknown here is left to the proxy.
 */
async function secondLook(decision: Promise<EgressDecision>): Promise<EgressDecision | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, secondLookMs, undefined);
  });
  try {
    return await Promise.race([decision, patience]);
  } finally {
    clearTimeout(timer);
  }
}

function pinnedTo(addresses: readonly ResolvedAddress[]): typeof lookup {
  const pinned: LookupFunction = (_hostname, options, callback) => {
    const family = options.family === "IPv4" ? 4 : options.family === "IPv6" ? 6 : (options.family ?? 0);
    const usable = addresses.filter((each) => family === 0 || each.family === family);
    const [first] = usable;
    if (first === undefined) callback(Object.assign(new Error("No address of the wanted family."), { code: "ENOTFOUND" }), "");
    else if (options.all === true) callback(null, [...usable]);
    else callback(null, first.address, first.family);
  };
  // proxy-chain asks for the type of `dns.lookup` with all its forms, and hands it to `net.connect`, which uses this one.
  return pinned as typeof lookup;
}
