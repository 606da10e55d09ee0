import type { AddedHeader, ExitHeaders } from "../interface/egress.ts";
import type { RecordedExchange } from "../interface/exchanges.ts";
import type { EgressClient } from "./client.ts";
import { connectionFailure, EgressFailure, failureAnswer } from "./failure.ts";
import { answerRequest, playedSocket } from "./exchange.ts";
import { MessageCount } from "./exchanges/message-count.ts";
import { exchangeRequest, playSocket } from "./exchanges/play.ts";
import { isOfOwnSite } from "./exchanges/same-site.ts";
import {
  answerClient,
  endToEnd,
  type Forwarding,
  headOf,
  maxHeaderBytes,
  outgoingRequest,
  recordAnswer,
} from "./forward.ts";
import { bare, type EgressRoute, type EgressTarget, hostOf } from "./route.ts";
import { joinTunnel, type TunnelTimes } from "./tunnels/tunnel.ts";
import { joinChunks } from "@shoal/primitives/node";
import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

const handshakeRecord = 22;

/** A tunnel of a browser that the gateway serves instead of the host. */
export interface OpenedTunnel {
  readonly client: EgressClient;
  readonly host: EgressTarget;
  /** For a request that needs the network. */
  readonly route: () => Promise<EgressRoute>;
  /** An open tunnel along the route, for the first request; absent if a recording may answer it. */
  readonly socket?: Socket;
  readonly headers: ExitHeaders;
  readonly times: Pick<TunnelTimes, "idleMs" | "onIdle" | "waitingMs">;
  readonly onFailure: (failure: EgressFailure) => void;
}

/** A request in an opened tunnel. */
interface OpenedRequest {
  readonly tunnel: OpenedTunnel;
  /** Absolute. */
  readonly url: string;
  readonly forwarding: () => Promise<Forwarding>;
}

/** Serves requests in tunnels, to add headers to them, to record them, or to answer them from a recording. */
export class OpenedTunnels {
  readonly #tunnels = new WeakMap<Socket, { readonly tunnel: OpenedTunnel; readonly isSecure: boolean }>();
  readonly #http: Server;

  constructor(waitingMs: number) {
    this.#http = createServer({ requestTimeout: 0, keepAliveTimeout: waitingMs, maxHeaderSize: maxHeaderBytes });
    this.#http.on("request", (request: IncomingMessage, response: ServerResponse) => {
      joinChunks(request);
      this.#serve(
        request,
        ({ forwarding, tunnel: { headers: exit, onFailure: onMissing }, url }) =>
          answerRequest(request, response, { exit, url, forwarding, onMissing }),
        response,
      );
    });
    this.#http.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
      socket.on("error", () => undefined);
      this.#serve(request, (opened) => upgrade({ request, socket, head }, opened));
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
   * @returns whether the tunnel is served or closed here; `false` if its requests are neither changed nor recorded.
   */
  async serve(socket: Socket, tunnel: OpenedTunnel): Promise<boolean> {
    const first = await firstByte(socket);
    if (first === undefined) {
      socket.destroy();
      return true;
    }
    const isSecure = first === handshakeRecord;
    const { client, headers, host, socket: target } = tunnel;
    if (!isOpened(headers, originOf(host, isSecure))) return false;
    const served = isSecure ? openTls(socket, host, headers) : socket;
    this.#tunnels.set(served, { tunnel, isSecure });
    if (target !== undefined) client.keep(target);
    this.#http.emit("connection", served);
    return true;
  }

  #serve(request: IncomingMessage, answer: (opened: OpenedRequest) => Promise<void>, response?: ServerResponse): void {
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
    openedRequest(request, tunnel, isSecure)
      .then(answer)
      .catch((error: unknown) => {
        const failure = connectionFailure(error, hostOf(tunnel.host));
        if (!client.gone.signal.aborted) tunnel.onFailure(failure);
        // The browser would take another answer for the site's.
        const isExplained =
          failure.proxyError === "not_in_recording" ||
          // Without a recording, the answer to CONNECT has explained it.
          (failure.proxyError !== undefined && tunnel.headers.player !== undefined);
        if (isExplained) socket.end(failureAnswer(failure));
        else socket.destroy();
      });
  }
}

function originOf(host: EgressTarget, isSecure: boolean): string {
  return new URL(`${isSecure ? "https" : "http"}://${hostOf(host)}`).origin;
}

/** Whether the gateway reads the requests to an origin. */
export function isOpened({ player, recorder, source }: ExitHeaders, origin: string): boolean {
  return (player ?? recorder) !== undefined || source.covers(origin);
}

async function openedRequest(
  request: IncomingMessage,
  tunnel: OpenedTunnel,
  isSecure: boolean,
): Promise<OpenedRequest> {
  const path = request.url ?? "";
  if (!path.startsWith("/") && path !== "*") throw new EgressFailure(400, "A request in a tunnel needs a path.");
  const { client, headers, host, route: findRoute } = tunnel;
  const origin = originOf(host, isSecure);
  const forwarding = async (): Promise<Forwarding> => {
    const route = await findRoute();
    const added = await addedHeaders(headers, origin, { request, isReadable: !isSecure && route.hops.length > 0 });
    // Not the header of the request: the server could have other sites, whose code could show the value.
    return { client, route, added, path, way: isSecure ? "tls" : "tunnel", host: new URL(origin).host };
  };
  return { tunnel, url: `${origin}${path}`, forwarding };
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

function openTls(socket: Socket, host: EgressTarget, { authority }: ExitHeaders): Socket {
  const secure = new TLSSocket(socket, {
    isServer: true,
    ALPNProtocols: ["http/1.1"],
    secureContext: authority.contextFor(bare(host.hostname)),
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

async function upgrade({ head, request, socket }: Upgrading, opened: OpenedRequest): Promise<void> {
  const { headers: exit, host, times } = opened.tunnel;
  if (request.headers.upgrade?.toLowerCase() !== "websocket")
    throw new EgressFailure(400, `${hostOf(host)} is reached by HTTP/1.1 and WebSockets only in this session.`);
  const asked = exchangeRequest(request, opened.url);
  const played = playedSocket(exit, asked);
  if (played !== undefined) {
    if (head.length > 0) socket.unshift(head);
    await playSocket(request, socket, played);
    return;
  }
  const forwarding = await opened.forwarding();
  const recorded = exit.recorder?.begin(asked);
  try {
    const answer = await askUpgrade(request, socket, forwarding);
    if ("refused" in answer) {
      const response = new ServerResponse(request);
      response.shouldKeepAlive = false;
      response.assignSocket(socket);
      response.once("finish", () => socket.end());
      if (recorded !== undefined && answer.refused.statusCode !== 407)
        recordAnswer(answer.refused, response, recorded, () => "");
      await answerClient(answer.refused, response, forwarding);
      return;
    }
    const { accepted, first, target } = answer;
    if (head.length > 0) socket.unshift(head);
    if (first.length > 0) target.unshift(first);
    if (recorded !== undefined) recordSocket(socket, { accepted, target }, recorded);
    const lines = ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket"];
    const kept = endToEnd(accepted.rawHeaders);
    for (let index = 0; index + 1 < kept.length; index += 2)
      lines.push(`${kept[index] ?? ""}: ${kept[index + 1] ?? ""}`);
    socket.write(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
    joinTunnel(socket, target, times);
  } catch (error) {
    recorded?.end("broken", "");
    throw error;
  }
}

type UpgradeAnswer =
  | { readonly refused: IncomingMessage }
  | { readonly accepted: IncomingMessage; readonly target: Socket; readonly first: Buffer };

function askUpgrade(request: IncomingMessage, socket: Socket, forwarding: Forwarding): Promise<UpgradeAnswer> {
  const outgoing = outgoingRequest(request, forwarding, ["connection", "Upgrade", "upgrade", "websocket"]);
  socket.once("close", () => outgoing.destroy());
  return new Promise((resolve, reject) => {
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
}

/** Call it before the sockets are joined. */
function recordSocket(
  client: Socket,
  { accepted, target }: { readonly accepted: IncomingMessage; readonly target: Socket },
  recorded: RecordedExchange,
): void {
  const messages = new MessageCount();
  client.on("data", (chunk: Buffer) => {
    messages.add(chunk);
  });
  recorded.head(headOf(accepted));
  target.on("data", (chunk: Buffer) => {
    recorded.data(chunk, messages.count);
  });
  client.once("close", () => {
    recorded.end("open", "");
  });
  for (const event of ["end", "close"] as const)
    target.once(event, () => {
      recorded.end("complete", "");
    });
}
