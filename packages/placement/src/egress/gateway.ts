import type {
  EgressControls,
  EgressLimits,
  EgressRules,
  EgressTraffic,
  EgressUpstream,
  ReachedLimit,
  RequestSigner,
  RuleSource,
  TransferredBytes,
} from "../interface/egress.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { EgressClient } from "./client.ts";
import { type ConnectionOwner, EgressConnections, usualEgressLimits } from "./connections.ts";
import { connectionFailure, EgressFailure } from "./failure.ts";
import { FailureRecord } from "./failure-record.ts";
import { Refusals, refusalsPath } from "./refusals.ts";
import { forwardRequest } from "./forward.ts";
import type { EgressDecision, EgressPolicy } from "../policy/egress-policy.ts";
import { describeRefusal, NetworkRules } from "../policy/network-rules.ts";
import { answerSignature, signaturePath } from "./signatures.ts";
import { orLate } from "./or-late.ts";
import { targetOf, targetText, tunnelTargetOf } from "./target.ts";
import { type EgressHop, type EgressRoute, type EgressTarget, hostOf } from "./route.ts";
import { Transfers } from "./transfers.ts";
import { joinTunnel } from "./tunnel.ts";
import { type ParsedUpstream, parseUpstream } from "./upstream.ts";
import pLimit, { type LimitFunction } from "p-limit";
import { chmod } from "node:fs/promises";
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer, type Server as SocketServer, type Socket } from "node:net";

export interface EgressDoor extends EgressControls {
  close(): Promise<void>;
}

export interface EgressGateway {
  traffic(): EgressTraffic;
  /** Only the owner of this process may connect. `policy` decides about each request and tunnel. */
  open(path: string, policy: EgressPolicy): Promise<EgressDoor>;
}

/** Milliseconds for the additional lookup of a name that a proxy resolves. */
const secondLookMs = 2_000;

export const egressGatewayName = "Shoal egress gateway";

/** For the instance; proxy requests have absolute URLs. */
export const failuresPath = "/failures";

/** Resolves names and connects only to addresses that it checked. */
export function createEgressGateway(log: PlacementLog, limits: Partial<EgressLimits> = {}): EgressGateway {
  return new Gateway(log, { ...usualEgressLimits(), ...limits });
}

class Gateway implements EgressGateway {
  readonly log: PlacementLog;
  readonly limits: EgressLimits;
  readonly connections: EgressConnections;
  readonly http: Server;
  readonly #doors = new WeakMap<Socket, Door>();
  readonly #transfers = new Transfers();

  constructor(log: PlacementLog, limits: EgressLimits) {
    this.log = log;
    this.limits = limits;
    this.connections = new EgressConnections(limits);
    // Uploads may take longer than Node's limit of five minutes; idle timeouts apply instead.
    this.http = createHttpServer({ requestTimeout: 0, keepAliveTimeout: limits.waitingMs });
    this.http.timeout = limits.idleMs;
    this.http.on("request", (request: IncomingMessage, response: ServerResponse) => {
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
    this.http.on("clientError", (_error, socket) => {
      if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      else socket.destroy();
    });
  }

  traffic(): EgressTraffic {
    return {
      ...this.#transfers.total(),
      connections: this.connections.open,
      ended: { ...this.connections.ended },
    };
  }

  async open(path: string, policy: EgressPolicy): Promise<EgressDoor> {
    const door = new Door(this, policy);
    await door.listen(path);
    return door;
  }

  serve(socket: Socket, door: Door): void {
    this.#transfers.add(socket);
    door.transfers.add(socket);
    this.#doors.set(socket, door);
    this.http.emit("connection", socket);
    socket.setTimeout(this.limits.waitingMs);
  }
}

class Door implements EgressDoor, ConnectionOwner {
  readonly sockets = new Set<Socket>();
  readonly transfers = new Transfers();
  project: string | undefined;
  readonly #gateway: Gateway;
  readonly #policy: EgressPolicy;
  #narrowed: EgressPolicy;
  #pages: EgressPolicy;
  #rulesOf: ReadonlyMap<RuleSource, EgressRules> = new Map();
  #rules = new NetworkRules(new Map());
  #upstream: ParsedUpstream | undefined;
  #signer: RequestSigner | undefined;
  readonly #lookups: LimitFunction;
  readonly #clients = new WeakMap<Socket, EgressClient>();
  readonly #failures = new FailureRecord();
  readonly #refusals = new Refusals();
  #server: SocketServer | undefined;

  constructor(gateway: Gateway, policy: EgressPolicy) {
    this.#gateway = gateway;
    this.#policy = policy;
    this.#narrowed = policy;
    this.#pages = policy;
    this.#lookups = pLimit(gateway.limits.lookupsPerSession);
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
    const route = await this.#routeFor(targetOf(request), client, request);
    await forwardRequest(request, response, { client, route });
  }

  async #connect(request: IncomingMessage, socket: Socket): Promise<void> {
    const client = this.#clientOf(request);
    if (client === undefined || client.isBusy) {
      socket.destroy();
      return;
    }
    socket.setTimeout(this.#gateway.limits.idleMs);
    const { idleMs, waitingMs } = this.#gateway.limits;
    const route = await this.#routeFor(tunnelTargetOf(request), client, request);
    const target = await client.open(route, "tunnel");
    if (socket.destroyed) {
      target.destroy();
      return;
    }
    socket.removeAllListeners("timeout");
    socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    joinTunnel(socket, target, {
      idleMs,
      waitingMs,
      onIdle: () => {
        this.#gateway.connections.ended.idle++;
      },
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
      const rules = this.#rules;
      const route = await orLate(
        this.#decideRoute(target, client.proxy, request.headers["proxy-authorization"]),
        { ms: deadlineMs - performance.now(), signal: client.gone.signal },
        () => {
          throw new EgressFailure(504, `Looking up ${hostOf(target)} timed out.`, { code: "ETIMEDOUT" });
        },
      );
      // The rules may change during the lookup.
      if (rules !== this.#rules) continue;
      client.route = route;
      return route;
    }
  }

  async #decideRoute(
    target: EgressTarget,
    own: ParsedUpstream | undefined,
    authorization: string | undefined,
  ): Promise<EgressRoute> {
    if (own === undefined || own.bypasses(target.hostname)) return { target, ...(await this.#wayTo(target)) };
    await this.#refuseKnown(target);
    // A browser context's proxy is subject to the policy for pages.
    const { hops, addresses } = await this.#wayTo(own);
    return { target, hops: [...hops, { proxy: own, authorization, asksClient: true }], addresses };
  }

  async #wayTo(
    target: EgressTarget,
  ): Promise<{ readonly hops: readonly EgressHop[]; readonly addresses: EgressRoute["addresses"] }> {
    const upstream = this.#upstream;
    if (upstream === undefined || upstream.bypasses(target.hostname)) {
      const decision = await this.#decide(this.#pages, target);
      if (!decision.allowed) throw refusalOf(decision);
      return { hops: [], addresses: decision.addresses };
    }
    await this.#refuseKnown(target);
    const server = await this.#decide(this.#policy, upstream);
    if (!server.allowed)
      throw new EgressFailure(502, `The session's proxy is not allowed. ${server.message.trimEnd()}`);
    return { hops: [{ proxy: upstream, asksClient: false }], addresses: server.addresses };
  }

  #decide(policy: EgressPolicy, { hostname, port }: EgressTarget, isProxied = false): Promise<EgressDecision> {
    return this.#lookups(() => policy.decide(hostname, port, isProxied));
  }

  /**
   * Refuses private names, and names that a rule refuses, although the proxy resolves them again. Slow and unknown names
   * are left to the proxy.
   */
  async #refuseKnown(target: EgressTarget): Promise<void> {
    const refusal = this.#rules.refuseConnection(target, undefined);
    if (refusal !== undefined) throw new EgressFailure(403, describeRefusal(hostOf(target), refusal), { refusal });
    const decision = await orLate(this.#decide(this.#pages, target, true), { ms: secondLookMs }, () => undefined);
    if (decision !== undefined && !decision.allowed && decision.status !== 502) throw refusalOf(decision);
  }

  #fail(request: IncomingMessage, failure: EgressFailure): void {
    const { socket } = request;
    const isTunnel = request.method === "CONNECT";
    const { status, message, code, proxyAuthenticate } = failure;
    const client = this.#clients.get(socket);
    if (client?.gone.signal.aborted !== false) return;
    if (proxyAuthenticate === undefined) {
      const target = isTunnel ? (request.url ?? "").toLowerCase() : targetText(request.url ?? "");
      this.#failures.add({ target, status, message });
      if (failure.refusal !== undefined) this.#refusals.add(target, failure.refusal);
      this.#gateway.log.debug({ target, status }, message);
      // The browser would take an answer for the site's; after a closed socket, it reports a network error.
      if (client.isBrowser && !isTunnel) {
        socket.destroy();
        return;
      }
    }
    const body = `${message}\n`;
    const head = [
      `HTTP/1.1 ${String(status)} ${code ?? "Egress Failure"}`,
      `Server: ${egressGatewayName}`,
      "Connection: close",
      `Date: ${new Date().toUTCString()}`,
      "Content-Type: text/plain; charset=utf-8",
      `Content-Length: ${String(Buffer.byteLength(body))}`,
      ...(proxyAuthenticate === undefined
        ? []
        : [`Proxy-Authenticate: ${proxyAuthenticate.replace(/[^\x20-\x7e]/g, "")}`]),
    ];
    socket.setTimeout(1_000, () => socket.destroy());
    socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  }

  setPrivateHosts(hosts: readonly string[]): void {
    this.#narrowed = this.#policy.narrowed(hosts);
    this.#pages = this.#narrowed.ruledBy(this.#rules);
  }

  setRules(source: RuleSource, rules: EgressRules | undefined): void {
    const changed = new Map(this.#rulesOf);
    if (rules === undefined) changed.delete(source);
    else changed.set(source, rules);
    this.#rules = new NetworkRules(changed);
    this.#rulesOf = changed;
    this.#pages = this.#narrowed.ruledBy(this.#rules);
    for (const socket of this.sockets) if (this.#isRefused(this.#clients.get(socket)?.route)) socket.destroy();
  }

  #isRefused(route: EgressRoute | undefined): boolean {
    if (route === undefined) return false;
    const { addresses, hops, target } = route;
    const [first] = hops;
    if (first === undefined) return this.#isRuledOut(target, addresses);
    if (this.#isRuledOut(target, undefined)) return true;
    // A proxy of a browser context is subject to the rules, the session's is not.
    const own = hops.find(({ asksClient }) => asksClient)?.proxy;
    return own !== undefined && this.#isRuledOut(own, own === first.proxy ? addresses : undefined);
  }

  #isRuledOut(target: EgressTarget, addresses: EgressRoute["addresses"] | undefined): boolean {
    const found = addresses?.map(({ address }) => address);
    return this.#rules.refuseConnection(target, found) !== undefined;
  }

  setSigner(signer: RequestSigner): void {
    this.#signer = signer;
  }

  setProject(project: string | undefined): void {
    this.project = project;
  }

  transferred(): TransferredBytes {
    return this.transfers.total();
  }

  setUpstream(upstream: EgressUpstream | undefined): void {
    this.#upstream = upstream && parseUpstream(upstream);
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

function refusalOf({ status, message, refusal }: Extract<EgressDecision, { allowed: false }>): EgressFailure {
  return new EgressFailure(status, message.trimEnd(), { refusal });
}

function limitText(reached: ReachedLimit, limits: EgressLimits): string {
  if (reached === "session")
    return `This session has ${String(limits.connectionsPerSession)} open connections, the limit (egress_connections_per_session). Close pages or programs.`;
  if (reached === "project")
    return `The sessions of this project have ${String(limits.connectionsPerProject)} open connections, the limit (egress_connections_per_project). Close pages or end sessions.`;
  return "The server has no file descriptors left for connections of sessions. Close pages, end sessions, or raise the limit of open files (ulimit -n).";
}
