import { once } from "node:events";
import { type IncomingMessage, request as ask } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { certificate, certificateKey } from "./certificate.ts";

/** A reverse proxy that terminates TLS, like nginx or Traefik. */
export interface ReverseProxy extends AsyncDisposable {
  /** With the path prefix: `https://localhost:4711/api`. */
  readonly baseUrl: string;
}

/**
 * @param upstream - of the service: `http://127.0.0.1:7777`.
 * @param options.strips - whether the proxy removes the prefix and reports it in a header.
 */
export async function startReverseProxy(
  upstream: string,
  options: { readonly prefix: string; readonly strips: boolean; readonly headers?: Readonly<Record<string, string>> },
): Promise<ReverseProxy> {
  const { prefix, strips } = options;
  const { hostname, port } = new URL(upstream);
  const sockets = new Set<Duplex>();

  function forward(request: IncomingMessage) {
    const url = request.url ?? "/";
    const headers = {
      ...request.headers,
      // Proxies append to the client's own value.
      "x-forwarded-for": [request.headers["x-forwarded-for"], request.socket.remoteAddress]
        .filter((hop) => hop !== undefined)
        .join(", "),
      "x-forwarded-proto": "https",
      "x-forwarded-host": request.headers.host ?? "",
      ...(strips && { "x-forwarded-prefix": prefix }),
      host: "inner.invalid",
      ...options.headers,
    };
    return ask({
      hostname,
      port,
      method: request.method,
      path: strips && url.startsWith(prefix) ? url.slice(prefix.length) : url,
      headers,
    });
  }

  const server = createServer({ cert: certificate, key: certificateKey }, (request, response) => {
    const onward = forward(request);
    onward.on("response", (answer) => {
      // Hop-by-hop headers are not passed on.
      const { connection: _connection, "keep-alive": _keepAlive, ...headers } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  });
  server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const onward = forward(request);
    socket.on("error", () => socket.destroy());
    onward.on("error", () => socket.destroy());
    onward.on("response", () => socket.destroy());
    onward.on("upgrade", (answer, inner, innerHead) => {
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\n${Object.entries(answer.headers)
          .map(([name, value]) => `${name}: ${String(value)}\r\n`)
          .join("")}\r\n`,
      );
      inner.on("error", () => inner.destroy());
      inner.write(head);
      socket.write(innerHead);
      inner.pipe(socket);
      socket.pipe(inner);
    });
    onward.end();
  });
  server.on("connection", (socket: Duplex) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    baseUrl: `https://localhost:${String((server.address() as AddressInfo).port)}${prefix}`,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, "close");
    },
  };
}
