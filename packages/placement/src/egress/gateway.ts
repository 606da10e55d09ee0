import { joinChunks } from "@shoal/primitives/node";
import type {
  AddedHeader,
  EgressControls,
  EgressLimits,
  EgressProxyRoute,
  EgressRules,
  EgressTraffic,
  EgressUpstream,
  ExitHeaders,
  RequestSigner,
  RuleSource,
  TransferredBytes,
} from "../interface/egress.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { EgressClient } from "./client.ts";
import { type ConnectionOwner, EgressConnections, limitText, usualEgressLimits } from "./connections.ts";
import { connectionFailure, EgressFailure, failureAnswer } from "./failure.ts";
import { FailureRecord } from "./failure-record.ts";
import { Refusals, refusalsPath } from "./questions/refusals.ts";
import { answerRequest, programOffline } from "./exchange.ts";
import { type Forwarding, longHead, maxHeaderBytes, plainForwarding } from "./forward.ts";
import { addedHeaders, isOpened, type OpenedTunnel, OpenedTunnels } from "./opened-tunnels.ts";
import type { EgressPolicy } from "../policy/egress-policy.ts";
import { describeRefusal } from "../policy/network-rules.ts";
import { answerSignature, signaturePath } from "./questions/signatures.ts";
import { orLate } from "./or-late.ts";
import { targetOf, targetText, tunnelTargetOf } from "./target.ts";
import { type EgressRoute, type EgressTarget, hostOf } from "./route.ts";
import { Transfers } from "./transfers.ts";
import { joinTunnel } from "./tunnels/tunnel.ts";
import { TunnelContent } from "./tunnels/tunnel-content.ts";
import type { MachineProxy } from "./upstream.ts";
import { EgressWays } from "./ways.ts";
import { chmod } from "node:fs/promises";
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer, type Server as SocketServer, type Socket } from "node:net";

/** For the instance; proxy requests have absolute URLs. */
export const failuresPath = "/failures";

/** Resolves names and connects only to addresses that it checked. */
export class EgressGateway {
  readonly log: PlacementLog;
  readonly limits: EgressLimits;
  readonly connections: EgressConnections;
  readonly http: Server;
  readonly opened: OpenedTunnels;
  readonly #doors = new WeakMap<Socket, EgressDoor>();
  readonly #transfers = new Transfers();

  readonly machine: MachineProxy | undefined;
  constructor(log: PlacementLog, limits: Partial<EgressLimits> = {}, machine?: MachineProxy) {
    this.log = log;
    this.machine = machine;
    this.limits = { ...usualEgressLimits(), ...limits };
    const { idleMs, waitingMs } = this.limits;
    this.connections = new EgressConnections(this.limits);
    this.opened = new OpenedTunnels(waitingMs);
    // Uploads may take longer than Node's limit of five minutes; idle timeouts apply instead.
    this.http = createHttpServer({ requestTimeout: 0, keepAliveTimeout: waitingMs, maxHeaderSize: maxHeaderBytes });
    this.http.timeout = idleMs;
    this.http.on("request", (request: IncomingMessage, response: ServerResponse) => {
      joinChunks(request);
      this.#doors.get(request.socket)?.onRequest(request, response);
    });
    this.http.on("connect", (request: IncomingMessage, socket: Socket, head: Buffer) => {
      if (head.length > 0) socket.unshift(head);
      this.#doors.get(request.socket)?.onConnect(request, socket);
    });
    this.http.on("timeout", (socket: Socket) => {
      this.connections.ended.idle++;
      socket.destroy();
    });
    this.http.on("clientError", ({ code }: NodeJS.ErrnoException, socket: Socket) => {
      if (code === "HPE_HEADER_OVERFLOW") this.#doors.get(socket)?.onLongHead(socket);
      else if (socket.writable)
        socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      else socket.destroy();
    });
  }

  traffic(): EgressTraffic {
    const { ended, open: connections } = this.connections;
    return { ...this.#transfers.total(), connections, ended: { ...ended } };
  }

  /** Only the owner of this process may connect. `policy` decides about each request and tunnel. */
  async open(path: string, policy: EgressPolicy): Promise<EgressDoor> {
    const door = new EgressDoor(this, policy);
    await door.listen(path);
    return door;
  }

  serve(socket: Socket, door: EgressDoor): void {
    this.#transfers.add(socket);
    door.transfers.add(socket);
    this.#doors.set(socket, door);
    this.http.emit("connection", socket);
    socket.setTimeout(this.limits.waitingMs);
  }
}

export class EgressDoor implements ConnectionOwner, EgressControls {
  readonly sockets = new Set<Socket>();
  readonly transfers = new Transfers();
  project: string | undefined;
  readonly #gateway: EgressGateway;
  readonly #ways: EgressWays;
  #signer: RequestSigner | undefined;
  #headers: ExitHeaders | undefined;
  readonly #clients = new WeakMap<Socket, EgressClient>();
  readonly #failures = new FailureRecord();
  readonly #refusals = new Refusals();
  #server: SocketServer | undefined;

  constructor(gateway: EgressGateway, policy: EgressPolicy) {
    this.#gateway = gateway;
    this.#ways = new EgressWays(policy, gateway.connections.lookupsOf(this), gateway.machine);
  }

  async listen(path: string): Promise<void> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#accept(socket);
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, resolve);
    });
    server.on("error", (error) => {
      this.#gateway.log.warn({ error: error.message }, "The egress gateway failed to accept a connection.");
    });
    this.#server = server;
    if (process.platform !== "win32") await chmod(path, 0o600);
  }

  #accept(socket: Socket): void {
    socket.on("error", () => undefined);
    const reached = this.#gateway.connections.admit(this, socket);
    if (reached !== undefined) {
      this.#failures.add({ target: "*", status: 503, message: limitText(reached, this.#gateway.limits) });
      socket.destroy();
      return;
    }
    this.#clients.set(socket, new EgressClient(socket, this.#gateway.limits.connectMs));
    this.#gateway.serve(socket, this);
  }

  onRequest(request: IncomingMessage, response: ServerResponse): void {
    void this.#request(request, response).catch((error: unknown) => {
      this.#fail(request, connectionFailure(error, request.headers.host ?? "the network"));
    });
  }

  onConnect(request: IncomingMessage, socket: Socket): void {
    void this.#connect(request, socket).catch((error: unknown) => {
      this.#fail(request, connectionFailure(error, request.url ?? "the network"));
    });
  }

  /** Closes without an answer, which a browser would take for the site's. */
  onLongHead(socket: Socket): void {
    this.#failures.add({ target: "*", status: 431, message: longHead });
    socket.destroy();
  }

  async #request(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const client = this.#clientOf(request);
    if (client === undefined || client.isBusy) {
      request.socket.destroy();
      return;
    }
    if (request.url === failuresPath && !client.isBrowser) {
      this.#failures.answer(response);
      return;
    }
    client.socket.setTimeout(this.#gateway.limits.idleMs);
    if (request.url?.startsWith(refusalsPath) === true && !client.isBrowser) {
      this.#refusals.answer(request.url, response);
      return;
    }
    if (request.url?.startsWith(signaturePath) === true && !client.isBrowser) {
      await answerSignature(this.#signer, request.url, response);
      return;
    }
    client.isBusy = true;
    response.once("close", () => {
      client.isBusy = false;
    });
    const target = targetOf(request);
    const exit = this.#exitFor(client, target);
    const forwarding = async (): Promise<Forwarding> => {
      const route = await this.#routeFor(target, client, request);
      return plainForwarding(request, { client, route }, await this.#addedTo(request, client, route));
    };
    const onMissing = (failure: EgressFailure): void => {
      this.#note(hostOf(target), failure);
    };
    await answerRequest(request, response, { exit, url: new URL(request.url ?? "").href, forwarding, onMissing });
  }

  async #connect(request: IncomingMessage, socket: Socket): Promise<void> {
    const client = this.#clientOf(request);
    if (client === undefined || client.isBusy) {
      socket.destroy();
      return;
    }
    socket.setTimeout(this.#gateway.limits.idleMs);
    const { idleMs, waitingMs } = this.#gateway.limits;
    const host = tunnelTargetOf(request);
    const findRoute = (): Promise<EgressRoute> => this.#routeFor(host, client, request);
    // The recording may answer without the network, and even without a lookup of the name.
    const isPlayed = this.#exitFor(client, host)?.player !== undefined;
    const route = isPlayed ? undefined : await findRoute();
    const target = route && (await client.open(route, "tunnel"));
    if (socket.destroyed) {
      target?.destroy();
      return;
    }
    socket.removeAllListeners("timeout");
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    let isIdle = false;
    // Several timers of one tunnel may call it.
    const onIdle = (): void => {
      if (!isIdle) this.#gateway.connections.ended.idle++;
      isIdle = true;
    };
    const times = { idleMs, onIdle, waitingMs };
    const way = { route: route === undefined ? findRoute : async () => route, ...(target && { socket: target }) };
    if (await this.#opens(socket, { client, host, times, ...way })) return;
    if (target === undefined) {
      socket.destroy();
      return;
    }
    joinTunnel(socket, target, {
      ...times,
      // For the life of the tunnel: a list that is removed may have been in force when the client connected.
      content: this.#ways.rules.judgesContent ? this.#contentOf(client) : undefined,
    });
  }

  async #addedTo(request: IncomingMessage, client: EgressClient, route: EgressRoute): Promise<readonly AddedHeader[]> {
    if (this.#headers === undefined || !client.isBrowser) return [];
    const { origin } = new URL(request.url ?? "");
    return addedHeaders(this.#headers, origin, { request, isReadable: route.hops.length > 0 });
  }

  /** @throws {EgressFailure} 403 for a program of a session whose recording answers everything. */
  #exitFor({ isBrowser }: EgressClient, target: EgressTarget): ExitHeaders | undefined {
    if (isBrowser) return this.#headers;
    if (this.#headers?.player?.passes !== false) return undefined;
    throw programOffline(hostOf(target));
  }

  /** Serves a tunnel of the browser to a host of {@link setHeaders} here. */
  async #opens(socket: Socket, of: Omit<OpenedTunnel, "headers" | "onFailure">): Promise<boolean> {
    const { client, host, times } = of;
    const headers = this.#headers;
    if (headers === undefined || !client.isBrowser) return false;
    if (!["https", "http"].some((protocol) => isOpened(headers, new URL(`${protocol}://${hostOf(host)}`).origin)))
      return false;
    socket.setTimeout(times.idleMs, () => {
      times.onIdle();
      socket.destroy();
    });
    return this.#gateway.opened.serve(socket, {
      ...of,
      headers,
      onFailure: (failure) => {
        this.#note(hostOf(host), failure);
      },
    });
  }

  #note(host: string, { message, proxyError, refusal, status }: EgressFailure): void {
    const target = host.toLowerCase();
    this.#failures.add({ target, status, message, proxy_error: proxyError });
    if (refusal !== undefined) this.#refusals.add(target, refusal);
    // The message contains the address of the request, whose query may contain secrets.
    const logged = proxyError === "not_in_recording" ? "The recording has no answer to a request." : message;
    this.#gateway.log.debug({ target, status }, logged);
  }

  #contentOf(client: EgressClient): TunnelContent {
    return new TunnelContent((name) => {
      client.inside = name;
      const { route } = client;
      const refusal = this.#ways.rules.refuseInside(name);
      if (refusal === undefined || route === undefined) return refusal === undefined;
      const inside = hostOf({ hostname: name, port: route.target.port }).toLowerCase();
      const outside = hostOf(route.target).toLowerCase();
      const message = `The connection to ${outside} names another host inside. ${describeRefusal(inside, refusal)}`;
      for (const target of new Set([outside, inside]))
        this.#failures.add({ target, status: 403, message, proxy_error: "network_policy_denied" });
      this.#refusals.add(inside, refusal);
      return false;
    });
  }

  #clientOf(request: IncomingMessage): EgressClient | undefined {
    const client = this.#clients.get(request.socket);
    client?.learn(request.rawHeaders);
    return client;
  }

  async #routeFor(target: EgressTarget, client: EgressClient, request: IncomingMessage): Promise<EgressRoute> {
    const deadlineMs = performance.now() + this.#gateway.limits.connectMs;
    for (;;) {
      const { rules } = this.#ways;
      const route = await orLate(
        this.#ways.to(target, client.proxy, request.headers["proxy-authorization"]),
        { ms: deadlineMs - performance.now(), signal: client.gone.signal },
        () => {
          throw new EgressFailure(504, `Looking up ${hostOf(target)} timed out.`, { code: "ETIMEDOUT" });
        },
      );
      // The rules may change during the lookup.
      if (rules !== this.#ways.rules) continue;
      client.route = route;
      return route;
    }
  }

  #fail(request: IncomingMessage, failure: EgressFailure): void {
    const { socket } = request;
    const isTunnel = request.method === "CONNECT";
    const { status, message, proxyAuthenticate, proxyError } = failure;
    const client = this.#clients.get(socket);
    if (client?.gone.signal.aborted !== false) return;
    if (proxyAuthenticate === undefined) {
      const target = isTunnel ? (request.url ?? "").toLowerCase() : targetText(request.url ?? "");
      this.#failures.add({ target, status, message, proxy_error: proxyError });
      if (failure.refusal !== undefined) this.#refusals.add(target, failure.refusal);
      this.#gateway.log.debug({ target, status }, message);
      // The browser would take an answer for the site's; after a closed socket, it reports a network error.
      if (client.isBrowser && !isTunnel && proxyError === undefined) {
        socket.destroy();
        return;
      }
    }
    socket.setTimeout(1_000, () => socket.destroy());
    socket.end(failureAnswer(failure));
  }

  setPrivateHosts(hosts: readonly string[]): void {
    this.#ways.setPrivateHosts(hosts);
  }

  setRules(source: RuleSource, rules: EgressRules | undefined): void {
    this.#ways.setRules(source, rules);
    for (const socket of this.sockets) {
      const client = this.#clients.get(socket);
      if (client !== undefined && this.#ways.isRefused(client)) socket.destroy();
    }
  }

  setProxyRoutes(routes: readonly EgressProxyRoute[]): void {
    this.#ways.setProxyRoutes(routes);
    this.#endConnections();
  }

  setSigner(signer: RequestSigner): void {
    this.#signer = signer;
  }

  setHeaders(headers: ExitHeaders | undefined): void {
    this.#headers = headers;
    this.#endConnections();
  }

  setProject(project: string | undefined): void {
    this.project = project;
  }

  transferred(): TransferredBytes {
    return this.transfers.total();
  }

  setUpstream(upstream: EgressUpstream | undefined): void {
    this.#ways.setUpstream(upstream);
    this.#endConnections();
  }

  async close(): Promise<void> {
    const server = this.#server;
    const closed = new Promise<void>((resolve) => {
      if (server === undefined) resolve();
      else
        server.close(() => {
          resolve();
        });
    });
    this.#endConnections();
    await closed;
  }

  #endConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }
}
