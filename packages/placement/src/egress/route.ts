import { connectionFailure, EgressFailure, routeFailure } from "./failure.ts";
import type { ResolvedAddress } from "../policy/egress-policy.ts";
import { pinnedTo } from "../policy/outbound-rule.ts";
import { type ParsedUpstream, trusting } from "./upstream.ts";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect, isIP, type Socket } from "node:net";
import { SocksClient } from "socks";
import { connect as tlsConnect } from "node:tls";

export interface EgressTarget {
  readonly hostname: string;
  readonly port: number;
}

export interface EgressHop {
  readonly proxy: ParsedUpstream;
  /** `Proxy-Authorization` for the proxy of a browser context, which asks the browser for credentials by a 407. */
  readonly authorization?: string | undefined;
  readonly asksClient: boolean;
  /** The proxy of a route for this target. */
  readonly isRoute?: boolean;
}

export interface EgressRoute {
  readonly target: EgressTarget;
  /** Empty for a direct connection. */
  readonly hops: readonly EgressHop[];
  /** Of the first hop or target; connect to no others. */
  readonly addresses: readonly ResolvedAddress[];
}

export interface DialOptions {
  /** Its reason, an {@link EgressFailure}, becomes the error. */
  readonly signal: AbortSignal;
  /** Called at once, to close the socket in every case. */
  readonly onSocket: (socket: Socket) => void;
}

export function openTunnel(route: EgressRoute, options: DialOptions): Promise<Socket> {
  return openAlong(route, route.hops.length, options);
}

/** The last hop must be an HTTP proxy that accepts plain requests. @throws {EgressFailure} */
export function openToLastHop(route: EgressRoute, options: DialOptions): Promise<Socket> {
  return openAlong(route, route.hops.length - 1, options);
}

/** Many HTTP proxies allow tunnels only to port 443, so plain requests are sent to them without a tunnel. */
export function endsAtHttpProxy({ hops }: EgressRoute): boolean {
  return hops.at(-1)?.proxy.isSocks === false;
}

async function openAlong(
  { target, hops, addresses }: EgressRoute,
  tunnels: number,
  { signal, onSocket }: DialOptions,
): Promise<Socket> {
  const first: EgressTarget = hops[0]?.proxy ?? target;
  let what = hostOf(first);
  let socket: Socket | undefined;
  try {
    socket = await connectTcp(first, addresses, { signal, onSocket });
    for (const [index, hop] of hops.entries()) {
      what = `the proxy ${hostOf(hop.proxy)}`;
      if (hop.proxy.isTls) socket = await startTls(socket, what, hop.proxy);
      if (index >= tunnels) break;
      const next: EgressTarget = hops[index + 1]?.proxy ?? target;
      socket = await (hop.proxy.isSocks ? tunnelBySocks(socket, hop, next) : tunnelByConnect(socket, hop, next));
    }
    signal.throwIfAborted();
    return socket;
  } catch (error) {
    socket?.destroy();
    throw connectionFailure(signal.aborted ? signal.reason : error, what);
  }
}

/** Names the route in a failure of its proxy, once. */
export function explainRoute({ hops, target }: EgressRoute): (error: unknown) => never {
  return (error) => {
    const isExplained = error instanceof EgressFailure && error.proxyError !== undefined;
    throw hops[0]?.isRoute === true && !isExplained ? routeFailure(error, hostOf(target)) : error;
  };
}

export function hostOf({ hostname, port }: EgressTarget): string {
  return `${hostname}:${String(port)}`;
}

export function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}

function connectTcp(
  { hostname, port }: EgressTarget,
  addresses: readonly ResolvedAddress[],
  { signal, onSocket }: DialOptions,
): Promise<Socket> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    // Keep-alive detects a vanished peer.
    const socket = connect({
      host: bare(hostname),
      port,
      lookup: pinnedTo(addresses),
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      noDelay: true,
    });
    onSocket(socket);
    const abort = (): void => {
      socket.destroy(signal.reason instanceof Error ? signal.reason : undefined);
    };
    signal.addEventListener("abort", abort, { once: true });
    socket.once("close", () => {
      signal.removeEventListener("abort", abort);
    });
    socket.on("error", reject);
    socket.once("connect", () => {
      resolve(socket);
    });
  });
}

/** TLS with the target of a tunnel. @throws {EgressFailure} if its certificate is not valid for the service. */
export async function secureTunnel(tunnel: Socket, target: EgressTarget): Promise<Socket> {
  const host = hostOf(target);
  try {
    return await startTls(tunnel, host, target);
  } catch (error) {
    tunnel.destroy();
    const failure = connectionFailure(error, host);
    if (failure.status !== 599) throw failure;
    throw new EgressFailure(
      failure.status,
      `${failure.message} The session adds a header to requests to this host, so the service itself verifies its certificate.`,
      failure.code === undefined ? {} : { code: failure.code },
    );
  }
}

/**
 * Verifies the certificate of the server. @param what - for messages.
 * @param authorities - in addition to the service's.
 */
function startTls(
  socket: Socket,
  what: string,
  { hostname, authorities }: { readonly hostname: string; readonly authorities?: string | undefined },
): Promise<Socket> {
  const host = bare(hostname);
  return new Promise((resolve, reject) => {
    // SNI does not allow addresses.
    const secure = tlsConnect({
      socket,
      host,
      servername: isIP(host) === 0 ? host : "",
      ALPNProtocols: ["http/1.1"],
      ...trusting(authorities),
    });
    secure.on("error", reject);
    secure.once("close", () => {
      reject(new EgressFailure(595, `The connection to ${what} was reset (ECONNRESET).`, { code: "ECONNRESET" }));
    });
    secure.once("secureConnect", () => {
      resolve(secure);
    });
  });
}

function tunnelByConnect(
  socket: Socket,
  { proxy, authorization, asksClient }: EgressHop,
  target: EgressTarget,
): Promise<Socket> {
  const authority = hostOf(target);
  const credentials = authorization ?? proxy.authorization;
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      method: "CONNECT",
      path: authority,
      headers: { host: authority, ...(credentials !== undefined && { "proxy-authorization": credentials }) },
      createConnection: () => socket,
    });
    request.once("connect", (answer, tunnel: Socket, head: Buffer) => {
      const { statusCode = 0 } = answer;
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) tunnel.unshift(head);
        tunnel.on("error", () => undefined);
        resolve(tunnel);
      } else reject(refusedBy(proxy, answer, asksClient));
    });
    // Some proxies ignore the method CONNECT.
    request.once("response", (answer) => {
      reject(refusedBy(proxy, answer, asksClient));
    });
    request.on("error", reject);
    request.end();
  });
}

export function refusedBy(proxy: ParsedUpstream, answer: IncomingMessage, asksClient: boolean): EgressFailure {
  const status = answer.statusCode ?? 0;
  const what = `The proxy ${hostOf(proxy)}`;
  const asked = answer.headers["proxy-authenticate"];
  if (status === 407 && asksClient && asked !== undefined && asked.length > 0)
    return new EgressFailure(407, `${what} requires a user name and password.`, {
      proxyAuthenticate: [asked].flat()[0] ?? "",
    });
  if (status === 401 || status === 407)
    return new EgressFailure(597, `${what} rejects the user name and password.`, {
      code: `UPSTREAM${String(status)}`,
    });
  return new EgressFailure(590, `${what} refused to connect (status ${String(status)}).`, {
    code: `UPSTREAM${String(status)}`,
  });
}

async function tunnelBySocks(socket: Socket, { proxy }: EgressHop, { hostname, port }: EgressTarget): Promise<Socket> {
  try {
    const { socket: tunnel } = await SocksClient.createConnection({
      proxy: {
        host: bare(proxy.hostname),
        port: proxy.port,
        type: 5,
        ...(proxy.username !== "" && { userId: proxy.username, password: proxy.password }),
      },
      command: "connect",
      destination: { host: bare(hostname), port },
      existing_socket: socket,
    });
    tunnel.on("error", () => undefined);
    return tunnel;
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    const what = `The proxy ${hostOf(proxy)}`;
    if (/authentication/i.test(message)) throw new EgressFailure(597, `${what} rejects the user name and password.`);
    if (message.includes("ConnectionRefused"))
      throw new EgressFailure(594, `${what} reports that the connection was refused.`, { code: "ECONNREFUSED" });
    if (/rejected connection/i.test(message)) throw new EgressFailure(590, `${what} refused to connect.`);
    throw new EgressFailure(599, `${what} does not speak SOCKS5, or closed the connection.`);
  }
}
