import { once } from "node:events";
import { createServer, type IncomingMessage, request as httpRequest } from "node:http";
import { type AddressInfo, connect } from "node:net";

/** An HTTP proxy with optional user name and password that resolves every name to this machine's loopback interface. */
export interface PasswordProxy extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** `host:port` of forwarded requests. */
  readonly asked: string[];
}

export async function startPasswordProxy(username?: string, password = ""): Promise<PasswordProxy> {
  const wanted =
    username === undefined ? undefined : `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const asked: string[] = [];
  const isKnown = (request: IncomingMessage): boolean => request.headers["proxy-authorization"] === wanted;
  const server = createServer((request, response) => {
    if (!isKnown(request)) {
      response.writeHead(407, { "proxy-authenticate": 'Basic realm="proxy"' }).end("sign in");
      return;
    }
    const url = new URL(request.url ?? "");
    asked.push(url.host);
    const { "proxy-authorization": _password, ...headers } = request.headers;
    const onward = httpRequest(
      { host: "127.0.0.1", port: url.port, path: url.pathname, method: request.method, headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, { ...answer.headers, via: "1.1 password-proxy" });
        answer.pipe(response);
      },
    );
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  server.on("connect", (request, client) => {
    if (!isKnown(request)) {
      client.end(
        'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="proxy"\r\nContent-Length: 0\r\n\r\n',
      );
      return;
    }
    asked.push(request.url ?? "");
    const onward = connect(Number(request.url?.split(":").at(-1)), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      client.pipe(onward).pipe(client);
    });
    onward.on("error", () => client.destroy());
    client.on("error", () => onward.destroy());
    client.on("close", () => onward.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await Promise.resolve();
    },
  };
}
