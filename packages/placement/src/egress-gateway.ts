import type { EgressPolicy, ResolvedAddress } from "./egress-policy.ts";
import type { PlacementLog } from "./placement.ts";
import { RequestError, Server as ProxyServer } from "proxy-chain";
import type { lookup } from "node:dns";
import { chmod } from "node:fs/promises";
import { Agent, type IncomingMessage } from "node:http";
import { createServer, type LookupFunction, type Socket } from "node:net";

/** One session's way out: an HTTP proxy on a Unix socket or named pipe. */
export interface EgressDoor {
  /** Ends the proxy and every connection through it. */
  close(): Promise<void>;
}

export interface EgressGateway {
  /** Opens a proxy at `path`, which only the owner of this process may use. `policy` is asked about every request and every tunnel. */
  open(path: string, policy: EgressPolicy): Promise<EgressDoor>;
}

/** Connections of one session at a time. Chromium itself keeps to 32 at one proxy, WebSockets apart. */
const maxConnections = 1024;

interface Door {
  readonly policy: EgressPolicy;
  readonly agent: Agent;
}

/** Makes the place where what pages send leaves for the network. Names are resolved here, and a connection goes to the address that was checked. */
export function createEgressGateway(log: PlacementLog): EgressGateway {
  const doors = new WeakMap<Socket, Door>();
  const proxy = new ProxyServer({
    async prepareRequestFunction({ request, hostname, port, isHttp }: { request: IncomingMessage; hostname: string; port: number; isHttp: boolean }) {
      const door = doors.get(request.socket);
      if (door === undefined) throw new RequestError("This connection belongs to no session.\n", 403);
      const decision = await door.policy.decide(hostname, port);
      if (!decision.allowed) {
        log.debug({ hostname, port, status: decision.status }, decision.message.trimEnd());
        throw new RequestError(decision.message, decision.status, { "Content-Type": "text/plain; charset=utf-8" });
      }
      return { dnsLookup: pinnedTo(decision.addresses), ...(isHttp && { httpAgent: door.agent }) };
    },
  });
  // An upload may take longer than Node's five minutes for a request.
  proxy.server.requestTimeout = 0;
  proxy.on("requestFailed", ({ error }: { error: Error }) => {
    log.warn({ error: error.message }, "The egress gateway failed a request.");
  });

  return {
    async open(path, policy) {
      // Not shared between sessions, or one could be given a connection on which another has authenticated itself.
      const door: Door = { policy, agent: new Agent({ keepAlive: true }) };
      const sockets = new Set<Socket>();
      // As node:http expects of its sockets: a client that has shut its side still waits for the answer.
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        sockets.add(socket);
        socket.once("close", () => sockets.delete(socket));
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
        close() {
          return new Promise((resolve) => {
            server.close(() => {
              resolve();
            });
            for (const socket of sockets) socket.destroy();
            door.agent.destroy();
          });
        },
      };
    },
  };
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
