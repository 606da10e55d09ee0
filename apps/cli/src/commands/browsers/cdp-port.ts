import { messageOf } from "@shoal/primitives";
import {
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type Server,
  type ServerResponse,
} from "node:http";
import { request as httpsRequest } from "node:https";
import { type AddressInfo, createServer as createListener, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";

export interface CdpTarget {
  readonly baseUrl: string;
  /** Its `cdp_ws_url` without `/cdp` and the token. */
  readonly socketsUrl: string;
  /** From its `cdp_ws_url`. */
  readonly token: string;
}

export interface CdpPort {
  readonly port: number;
  close(): Promise<void>;
}

const loopback = "127.0.0.1";
/** Of a client that sends before the connection is open. */
const maxEarlyBytes = 64 * 1024;
const socketPath = /^\/(?:cdp|devtools\/(?:browser(?:\/[\w-]{1,100})?|page\/\w{1,100}))$/;

/**
 * Serves a session on 127.0.0.1 like Chromium's debugging port. Every local program can use it. Web pages cannot: like
 * Chromium, it rejects foreign Host headers, and WebSockets with an Origin. @param port - 0 for a free port.
 */
export async function serveCdpPort(target: CdpTarget, port: number): Promise<CdpPort> {
  const server = createServer((request, response) => {
    void answer(target, request, response);
  });
  /** Also those without a request: `server` knows a socket only after its first byte. */
  const sockets = new Set<Socket>();
  const listener = createListener((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    acceptAnyCase(socket, server);
  });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    join(target, request, socket, head);
  });
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(port, loopback, resolve);
  });
  return {
    port: (listener.address() as AddressInfo).port,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => {
        listener.close(() => {
          resolve();
        });
        server.closeAllConnections();
      });
    },
  };
}

/** Chromium accepts `get`, which nodriver sends; Node accepts upper case only. */
function acceptAnyCase(socket: Socket, server: Server): void {
  const onError = (): void => {
    socket.destroy();
  };
  socket.once("error", onError);
  socket.once("data", (first: Buffer) => {
    socket.pause();
    socket.off("error", onError);
    const end = first.indexOf(" ");
    const method = first.subarray(0, Math.max(end, 0)).toString("latin1");
    socket.unshift(
      /^[a-z]{1,10}$/.test(method) ? Buffer.concat([Buffer.from(method.toUpperCase()), first.subarray(end)]) : first,
    );
    server.emit("connection", socket);
    socket.resume();
  });
}

function isForThisPort({ headers: { host = "" } }: IncomingMessage): boolean {
  return /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/i.test(host);
}

function addressOf({ baseUrl, token }: CdpTarget, path: string): URL {
  // As text: `searchParams` would write the address in `/json/new?http://a.example/` as a name without a value.
  return new URL(`${baseUrl.replace(/(?<!\/)\/+$/, "")}${path}${path.includes("?") ? "&" : "?"}jwt=${token}`);
}

const requestFor = (url: URL) => (url.protocol === "https:" ? httpsRequest : httpRequest);

async function answer(target: CdpTarget, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? "/";
  if (!isForThisPort(request) || !/^\/json(?:[/?]|$)/.test(path)) {
    response.writeHead(isForThisPort(request) ? 404 : 403, { "content-type": "text/plain" });
    response.end(
      "This port serves /json/version, /json/list, /json/new, /json/activate/{id} and /json/close/{id} to local programs.\n",
    );
    return;
  }
  try {
    const url = addressOf(target, path);
    const from = await new Promise<IncomingMessage>((resolve, reject) => {
      requestFor(url)(url, { method: request.method ?? "GET" }, resolve)
        .on("error", reject)
        .end();
    });
    const body = withPort(await text(from), target, request.headers.host ?? "");
    response
      .writeHead(from.statusCode ?? 502, { "content-type": from.headers["content-type"] ?? "application/json" })
      .end(body);
  } catch (error) {
    response.writeHead(502, { "content-type": "text/plain" }).end(`The service is unreachable: ${messageOf(error)}\n`);
  }
}

/** Replaces the session's WebSocket URLs by URLs of this port, without the token. */
function withPort(body: string, { socketsUrl }: CdpTarget, host: string): string {
  return body.replaceAll(
    new RegExp(`${socketsUrl.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}(/[\\w/-]+)\\?jwt=[^"]*`, "g"),
    `ws://${host}$1`,
  );
}

function join(target: CdpTarget, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  socket.on("error", () => socket.destroy());
  const [path = ""] = (request.url ?? "/").split("?", 1);
  if (!isForThisPort(request) || request.headers.origin !== undefined || !socketPath.test(path)) {
    socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    return;
  }
  const url = addressOf(target, path);
  const { "sec-websocket-key": key = "", "sec-websocket-version": version = "" } = request.headers;
  const asked = requestFor(url)(url, {
    headers: {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-key": key,
      "sec-websocket-version": version,
    },
  });
  // The client may leave before the service answers. Only a socket that is read notices.
  socket.once("close", () => asked.destroy());
  const early = [head];
  let earlyBytes = 0;
  const keep = (chunk: Buffer): void => {
    early.push(chunk);
    earlyBytes += chunk.length;
    if (earlyBytes > maxEarlyBytes) socket.destroy();
  };
  socket.on("data", keep);
  asked.on("upgrade", (reply, service, first) => {
    if (socket.destroyed) {
      service.destroy();
      return;
    }
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${reply.headers["sec-websocket-accept"] ?? ""}\r\n\r\n`,
    );
    if (first.length > 0) socket.write(first);
    socket.off("data", keep);
    service.write(Buffer.concat(early));
    service.on("error", () => socket.destroy());
    service.once("close", () => socket.end());
    socket.once("close", () => service.destroy());
    service.pipe(socket).pipe(service);
  });
  asked.on("response", (reply) => {
    reply.resume();
    socket.end(
      `HTTP/1.1 ${String(reply.statusCode)} ${reply.statusMessage ?? ""}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    );
  });
  asked.on("error", () => socket.destroy());
  asked.end();
}
