import { createServer, request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";

/** A plain HTTP proxy on a Unix socket, in the place of the egress gateway. */
export interface EgressProxy {
  /** Hosts that were asked for, in order. */
  readonly hosts: readonly string[];
  close(): Promise<void>;
}

export async function startEgressProxy(path: string): Promise<EgressProxy> {
  const hosts: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "");
    hosts.push(url.host);
    const onward = httpRequest(url, { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => {
      if (response.headersSent) response.destroy();
      else response.writeHead(599).end();
    });
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  });
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("connect", (request, client) => {
    const [host = "", port = "443"] = (request.url ?? "").split(":");
    hosts.push(request.url ?? "");
    const onward = connect(Number(port), host, () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      client.pipe(onward).pipe(client);
    });
    onward.on("error", () => {
      if (onward.connecting || onward.bytesRead === 0) client.end("HTTP/1.1 594 ECONNREFUSED\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      else client.destroy();
    });
    client.on("error", () => onward.destroy());
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    hosts,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        // Tunnels are no connections of HTTP any more.
        for (const socket of sockets) socket.destroy();
      }),
  };
}
