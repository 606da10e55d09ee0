import { Server as HttpProxy } from "proxy-chain";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface TestProxy {
  readonly port: number;
  readonly asked: string[];
  readonly open: () => number;
  close(): Promise<void>;
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** Reaches every name on this host's loopback interface. @param tls - clients must use TLS. */
export async function startHttpProxy(
  wanted?: Credentials,
  tls?: { readonly key: string; readonly cert: string },
): Promise<TestProxy> {
  const asked: string[] = [];
  const proxy = new HttpProxy({
    ...(tls === undefined ? { serverType: "http" } : { serverType: "https", httpsOptions: tls }),
    port: 0,
    host: "127.0.0.1",
    prepareRequestFunction({ hostname, port, username, password }) {
      if (wanted !== undefined && (username !== wanted.username || password !== wanted.password))
        return { requestAuthentication: true };
      asked.push(`${hostname}:${String(port)}`);
      const lookup = (_name: string, options: { all?: boolean }, callback: (...answer: unknown[]) => void): void => {
        if (options.all === true) callback(null, [{ address: "127.0.0.1", family: 4 }]);
        else callback(null, "127.0.0.1", 4);
      };
      return { dnsLookup: lookup as typeof import("node:dns").lookup };
    },
  });
  await proxy.listen();
  return { port: proxy.port, asked, open: () => proxy.getConnectionIds().length, close: () => proxy.close(true) };
}

/** RFC 1928 and 1929. Reaches every name on this host's loopback interface. */
export async function startSocksProxy(wanted?: Credentials): Promise<TestProxy> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
    void serve(socket, wanted, asked).catch(() => socket.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    open: () => sockets.size,
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function serve(socket: Socket, wanted: Credentials | undefined, asked: string[]): Promise<void> {
  const [, methods = 0] = await take(socket, 2);
  const offered = await take(socket, methods);
  const method = wanted === undefined ? 0 : 2;
  if (!offered.includes(method)) {
    socket.end(Buffer.from([5, 255]));
    return;
  }
  socket.write(Buffer.from([5, method]));
  if (wanted !== undefined) {
    const [, nameLength = 0] = await take(socket, 2);
    const username = (await take(socket, nameLength)).toString();
    const [passwordLength = 0] = await take(socket, 1);
    const password = (await take(socket, passwordLength)).toString();
    const fits = username === wanted.username && password === wanted.password;
    socket.write(Buffer.from([1, fits ? 0 : 1]));
    if (!fits) {
      socket.end();
      return;
    }
  }
  const [, , , kind] = await take(socket, 4);
  let host: string;
  if (kind === 3) {
    const [length = 0] = await take(socket, 1);
    host = (await take(socket, length)).toString();
  } else host = (await take(socket, 4)).join(".");
  const port = (await take(socket, 2)).readUInt16BE();
  asked.push(`${host}:${String(port)}`);
  const target = connect(port, "127.0.0.1");
  target.on("error", () => socket.destroy());
  await once(target, "connect");
  socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]));
  socket.pipe(target).pipe(socket);
  socket.once("close", () => target.destroy());
}

async function take(socket: Socket, length: number): Promise<Buffer> {
  for (;;) {
    const data = length === 0 ? Buffer.alloc(0) : (socket.read(length) as Buffer | null);
    if (data !== null) return data;
    if (socket.readableEnded || socket.destroyed) throw new Error("It went away.");
    await once(socket, "readable");
  }
}
