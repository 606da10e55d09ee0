import { createServer, request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";

/** A plain HTTP proxy on a Unix socket that replaces the egress gateway. */
export interface EgressProxy {
  readonly hosts: readonly string[];
  close(): Promise<void>;
}

export async function startEgressProxy(path: string): Promise<EgressProxy> {
  const hosts: string[] = [];
  /** In the gateway's format. */
  const failures: { target: string; status: number; message: string; age_ms: number }[] = [];
  const fail = (target: string, status: number): void => {
    failures.unshift({ target, status, message: `The connection to ${target} failed.`, age_ms: 0 });
  };
  const server = createServer((request, response) => {
    if (request.url === "/failures") {
      response.end(JSON.stringify(failures));
      return;
    }
    // The gateway answers a watch when a rule refuses a connection: never here.
    if (request.url?.startsWith("/refusals") === true) return;
    const url = new URL(request.url ?? "");
    delete request.headers["shoal-egress-client"];
    hosts.push(url.host);
    const onward = httpRequest(url, { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", (error: NodeJS.ErrnoException) => {
      if (!response.headersSent) fail(`${url.hostname}:${url.port || "80"}`, error.code === "ECONNREFUSED" ? 594 : 599);
      request.socket.destroy();
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
      fail(request.url ?? "", 594);
      if (onward.connecting || onward.bytesRead === 0)
        client.end("HTTP/1.1 594 ECONNREFUSED\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
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
        // The HTTP server no longer tracks tunnels.
        for (const socket of sockets) socket.destroy();
      }),
  };
}
