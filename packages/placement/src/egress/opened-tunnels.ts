import type { AddedHeader, ExitHeaders } from "../interface/egress.ts";
import type { EgressClient } from "./client.ts";
import { connectionFailure, EgressFailure } from "./failure.ts";
import { answerClient, endToEnd, type Forwarding, forwardRequest, maxHeaderBytes, outgoingRequest } from "./forward.ts";
import { bare, type EgressRoute, hostOf } from "./route.ts";
import { isOfOwnSite } from "./same-site.ts";
import { joinTunnel, type TunnelTimes } from "./tunnels/tunnel.ts";
import { joinChunks } from "@shoal/primitives/node";
import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

const handshakeRecord = 22;

/** A tunnel of a browser that the gateway serves instead of the host. */
export interface OpenedTunnel {
  readonly client: EgressClient;
  readonly route: EgressRoute;
  /** An open tunnel along the route, for the first request. */
  readonly target: Socket;
  readonly headers: ExitHeaders;
  readonly times: Pick<TunnelTimes, "idleMs" | "onIdle" | "waitingMs">;
  onFailure(failure: EgressFailure): void;
}

/** Serves requests in tunnels, to add headers to them. */
export class OpenedTunnels {
  readonly #tunnels = new WeakMap<Socket, { readonly tunnel: OpenedTunnel; readonly isSecure: boolean }>();
  readonly #http: Server;

  constructor(waitingMs: number) {
    this.#http = createServer({ requestTimeout: 0, keepAliveTimeout: waitingMs, maxHeaderSize: maxHeaderBytes });
    this.#http.on("request", (request: IncomingMessage, response: ServerResponse) => {
      joinChunks(request);
      this.#serve(request, (forwarding) => forwardRequest(request, response, forwarding), response);
    });
    this.#http.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
      socket.on("error", () => undefined);
      this.#serve(request, (forwarding, times) => upgrade({ request, socket, head }, forwarding, times));
    });
    this.#http.on("timeout", (socket: Socket) => {
      this.#tunnels.get(socket)?.tunnel.times.onIdle();
      socket.destroy();
    });
    this.#http.on("clientError", (_error, socket) => socket.destroy());
    // A tunnel in a tunnel, and other uses of the socket.
    this.#http.on("connect", (_request, socket) => socket.destroy());
  }

  /**
   * Waits for the first byte of the client.
   * @returns whether the tunnel is served or closed here; `false` if no header belongs to the requests in it.
   */
  async serve(socket: Socket, tunnel: OpenedTunnel): Promise<boolean> {
    const first = await firstByte(socket);
    if (first === undefined) {
      socket.destroy();
      return true;
    }
    const isSecure = first === handshakeRecord;
    const { client, headers, route, target } = tunnel;
    if (!headers.source.covers(originOf(route, isSecure))) return false;
    const served = isSecure ? openTls(socket, route, headers) : socket;
    this.#tunnels.set(served, { tunnel, isSecure });
    client.keep(target);
    this.#http.emit("connection", served);
    return true;
  }

  #serve(
    request: IncomingMessage,
    forward: (forwarding: Forwarding, times: OpenedTunnel["times"]) => Promise<void>,
    response?: ServerResponse,
  ): void {
    const { socket } = request;
    const opened = this.#tunnels.get(socket);
    // Each pipelined request would open a connection.
    if (opened === undefined || opened.tunnel.client.isBusy) {
      socket.destroy();
      return;
    }
    const { isSecure, tunnel } = opened;
    const { client } = tunnel;
    client.isBusy = true;
    response?.once("close", () => {
      client.isBusy = false;
    });
    forwardingOf(request, tunnel, isSecure)
      .then((forwarding) => forward(forwarding, tunnel.times))
      .catch((error: unknown) => {
        if (!client.gone.signal.aborted) tunnel.onFailure(connectionFailure(error, hostOf(tunnel.route.target)));
        // The browser would take an answer for the site's.
        socket.destroy();
      });
  }
}

function originOf({ target }: EgressRoute, isSecure: boolean): string {
  return new URL(`${isSecure ? "https" : "http"}://${hostOf(target)}`).origin;
}

async function forwardingOf(
  request: IncomingMessage,
  { client, headers, route }: OpenedTunnel,
  isSecure: boolean,
): Promise<Forwarding> {
  const path = request.url ?? "";
  if (!path.startsWith("/") && path !== "*") throw new EgressFailure(400, "A request in a tunnel needs a path.");
  const origin = originOf(route, isSecure);
  const added = await addedHeaders(headers, origin, { request, isReadable: !isSecure && route.hops.length > 0 });
  // Not the header of the request: the server could have other sites, whose code could show the value.
  return { client, route, added, path, way: isSecure ? "tls" : "tunnel", host: new URL(origin).host };
}

/** None for requests of other sites. @param isReadable - for a proxy on the way. @throws {EgressFailure} if the request could show a value to others. */
export async function addedHeaders(
  { source }: ExitHeaders,
  origin: string,
  { isReadable, request }: { readonly request: IncomingMessage; readonly isReadable: boolean },
): Promise<readonly AddedHeader[]> {
  if (!source.covers(origin) || !isOfOwnSite(request, origin)) return [];
  if (isReadable)
    throw new EgressFailure(
      403,
      `The session adds a secret header to requests to ${origin}, which its proxy could read. Use https, or reach the host without a proxy.`,
    );
  if (request.method === "TRACE")
    throw new EgressFailure(403, `The session adds a secret header to requests to ${origin}, which TRACE would show.`);
  try {
    return await source.headers(origin);
  } catch (error) {
    throw new EgressFailure(403, error instanceof Error ? error.message : "A secret header is not available.");
  }
}

function openTls(socket: Socket, { target }: EgressRoute, { authority }: ExitHeaders): Socket {
  const secure = new TLSSocket(socket, {
    isServer: true,
    ALPNProtocols: ["http/1.1"],
    secureContext: authority.contextFor(bare(target.hostname)),
  });
  secure.on("error", () => socket.destroy());
  secure.once("close", () => socket.destroy());
  return secure;
}

/** Resolves with `undefined` when the client sends nothing more. */
async function firstByte(socket: Socket): Promise<number | undefined> {
  return new Promise((resolve) => {
    function look(): void {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null && !socket.readableEnded && !socket.destroyed) return;
      socket.off("readable", look);
      for (const event of ["end", "close"]) socket.off(event, look);
      if (chunk !== null) socket.unshift(chunk);
      resolve(chunk?.[0]);
    }
    for (const event of ["readable", "end", "close"]) socket.on(event, look);
    look();
  });
}

interface Upgrading {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
}

async function upgrade(
  { head, request, socket }: Upgrading,
  forwarding: Forwarding,
  times: OpenedTunnel["times"],
): Promise<void> {
  if (request.headers.upgrade?.toLowerCase() !== "websocket")
    throw new EgressFailure(400, `${forwarding.host} is reached by HTTP/1.1 and WebSockets only in this session.`);
  const outgoing = outgoingRequest(request, forwarding, ["connection", "Upgrade", "upgrade", "websocket"]);
  socket.once("close", () => outgoing.destroy());
  const answer = await new Promise<
    { readonly refused: IncomingMessage } | { readonly accepted: IncomingMessage; target: Socket; first: Buffer }
  >((resolve, reject) => {
    outgoing.once("response", (refused) => {
      joinChunks(refused);
      resolve({ refused });
    });
    outgoing.once("upgrade", (accepted, target, first) => {
      resolve({ accepted, target, first });
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
  if ("refused" in answer) {
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once("finish", () => socket.end());
    await answerClient(answer.refused, response, forwarding);
    return;
  }
  const { accepted, first, target } = answer;
  if (head.length > 0) socket.unshift(head);
  if (first.length > 0) target.unshift(first);
  const lines = ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket"];
  const kept = endToEnd(accepted.rawHeaders);
  for (let index = 0; index + 1 < kept.length; index += 2) lines.push(`${kept[index] ?? ""}: ${kept[index + 1] ?? ""}`);
  socket.write(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  joinTunnel(socket, target, times);
}
