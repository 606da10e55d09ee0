import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";

export interface TestProxyServer {
  readonly port: number;
  /** Request lines: `GET http://…`, `CONNECT host:port`. */
  readonly asked: string[];
  close(): void;
}

/** @param credentials - required `user:password`. */
export async function startProxyServer(credentials: string): Promise<TestProxyServer> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const wanted = `Basic ${Buffer.from(credentials).toString("base64")}`;
  const server = createServer((request, response) => {
    if (request.headers["proxy-authorization"] !== wanted) {
      response.writeHead(407, { "proxy-authenticate": 'Basic realm="test"' }).end();
      return;
    }
    const url = new URL(request.url ?? "");
    asked.push(`${request.method ?? ""} ${url.href}`);
    const { "proxy-authorization": _secret, ...headers } = request.headers;
    const outgoing = httpRequest(
      {
        host: "127.0.0.1",
        port: url.port === "" ? 80 : url.port,
        path: url.pathname + url.search,
        method: request.method,
        headers,
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    outgoing.on("error", () => response.writeHead(502).end());
    request.pipe(outgoing);
  });
  server.on("connect", (request, socket: Socket) => {
    socket.on("error", () => undefined);
    if (request.headers["proxy-authorization"] !== wanted) {
      socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
      return;
    }
    asked.push(`CONNECT ${request.url ?? ""}`);
    const target = connect(Number(request.url?.split(":").at(-1)), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      target.pipe(socket).pipe(target);
    });
    target.on("error", () => socket.destroy());
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
