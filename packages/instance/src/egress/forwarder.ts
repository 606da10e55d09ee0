import { connect, createServer, type Server, type Socket } from "node:net";
import type { ContextProxy } from "./context-proxy.ts";
import { createEgressFailures, type EgressFailures } from "./failures.ts";
import { type EgressRefusal, watchRefusals } from "./refusals.ts";

/** TCP ports on 127.0.0.1 whose connections are forwarded to the egress gateway's socket. */
export interface EgressForwarder {
  /** An HTTP proxy for programs, which read failures from its answers. */
  readonly port: number;
  /** Failures close the connection without an answer, which a browser would show as the site's. */
  readonly browserPort: number;
  readonly failures: EgressFailures;
  /** Calls `listener` with the `host:port` of a connection without an answer. Returns a function that removes it. */
  onFailure(listener: (target: string) => void): () => void;
  /** Calls `listener` with the connections that rules refuse from now on. Returns a function that removes it. */
  onRefusal(listener: (refusal: EgressRefusal) => void): () => void;
  /** For a browser context's proxy; the same proxy gets the same port. @throws when too many are in use. */
  portOf(proxy: ContextProxy): Promise<number>;
  close(): void;
}

/** First header of a browser's connection: the gateway reads it from the first request and removes it. */
function headerOf(proxy?: ContextProxy): string {
  const fields = new URLSearchParams({ browser: "1", ...(proxy && { proxy: proxy.url }) });
  for (const host of proxy?.bypassHosts ?? []) fields.append("bypass", host);
  return `Shoal-Egress-Client: ${fields.toString()}\r\n`;
}
/** Ports for proxies of browser contexts; beyond this number the oldest unused port is closed. */
const maxContextProxies = 64;
/** Longest request line in bytes. Chromium's URLs have at most 2 MiB. */
const maxRequestLineBytes = 4 * 2 ** 20;

/** Chromium cannot use a proxy on a Unix socket. `egressPath`: the gateway's, which may be created later. */
export async function startEgressForwarder(egressPath: string): Promise<EgressForwarder> {
  const sockets = new Set<Socket>();
  const listeners = new Set<(target: string) => void>();
  const report = (target: string): void => {
    for (const listener of listeners) listener(target);
  };
  const forward = (header: string | undefined) => (inner: Socket) => {
    const outer = connect({ path: egressPath, allowHalfOpen: true });
    if (header !== undefined) {
      const named = passMarked(inner, outer, header);
      watchAnswer(outer, (hasFailed) => {
        if (hasFailed && named.target !== undefined) report(named.target);
      });
    } else inner.pipe(outer);
    join(inner, outer, sockets);
  };
  // Half-open: a client that closed its sending side still waits for the answer.
  const options = { allowHalfOpen: true, noDelay: true };
  const servers = [createServer(options, forward(undefined)), createServer(options, forward(headerOf()))] as const;
  const [port, browserPort] = await Promise.all([listen(servers[0]), listen(servers[1])]);
  const contextProxies = new ContextProxyPorts((proxy) => createServer(options, forward(headerOf(proxy))));
  return {
    port,
    browserPort,
    failures: createEgressFailures(egressPath),
    onFailure(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onRefusal: (listener) => watchRefusals(egressPath, listener),
    portOf: (proxy) => contextProxies.portOf(proxy),
    close() {
      for (const server of servers) server.close();
      contextProxies.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      server.off("error", reject);
      const address = server.address();
      if (address === null || typeof address === "string")
        reject(new Error("The egress forwarder listens on no TCP port."));
      else resolve(address.port);
    });
  });
}

/** Inserts a header after the first request line and forwards everything else unchanged. */
function passMarked(inner: Socket, outer: Socket, header: string): { readonly target: string | undefined } {
  const named: { target: string | undefined } = { target: undefined };
  let held: Buffer[] = [];
  let heldBytes = 0;
  function onData(chunk: Buffer): void {
    const end = chunk.indexOf("\n");
    held.push(chunk);
    heldBytes += chunk.length;
    if (end === -1) {
      if (heldBytes > maxRequestLineBytes) inner.destroy();
      return;
    }
    const bytes = Buffer.concat(held);
    held = [];
    const lineBytes = heldBytes - chunk.length + end + 1;
    named.target = targetOf(bytes.toString("latin1", 0, Math.min(lineBytes, 400)));
    inner.off("data", onData);
    inner.off("end", onEnd);
    inner.pause();
    outer.write(bytes.subarray(0, lineBytes));
    outer.write(header);
    outer.write(bytes.subarray(lineBytes));
    inner.pipe(outer);
  }
  function onEnd(): void {
    outer.end();
  }
  inner.on("data", onData);
  inner.once("end", onEnd);
  return named;
}

function targetOf(line: string): string | undefined {
  const [, tunnel, host, port = "80"] =
    /^(?:CONNECT (\S+)|[A-Z]+ http:\/\/(\[[^\]]+\]|[^/:? ]+)(?::(\d+))?)/.exec(line) ?? [];
  return tunnel?.toLowerCase() ?? (host === undefined ? undefined : `${host.toLowerCase()}:${port}`);
}

/** Sites send error statuses too; the gateway knows which are its own. */
function watchAnswer(outer: Socket, onAnswer: (hasFailed: boolean) => void): void {
  let isAnswered = false;
  outer.once("data", (answer: Buffer) => {
    isAnswered = true;
    onAnswer(Number(/^HTTP\/1\.[01] (\d{3})/.exec(answer.toString("latin1", 0, 12))?.[1]) >= 400);
  });
  outer.once("close", () => {
    if (!isAnswered) onAnswer(true);
  });
}

/** `inner` is already piped to `outer`. An error on one side ends the other. */
function join(inner: Socket, outer: Socket, sockets: Set<Socket>): void {
  for (const [socket, other] of [
    [inner, outer],
    [outer, inner],
  ] as const) {
    sockets.add(socket);
    socket.on("error", () => {
      other.destroy();
    });
    socket.on("close", (failed) => {
      sockets.delete(socket);
      if (failed || !socket.readableEnded) other.destroy();
    });
  }
  outer.pipe(inner);
}

/** The end of a browser context is not visible here, so ports stay open until there are too many. */
class ContextProxyPorts {
  readonly #create: (proxy: ContextProxy) => Server;
  readonly #servers = new Map<string, { readonly server: Server; readonly port: Promise<number>; open: number }>();

  constructor(create: (proxy: ContextProxy) => Server) {
    this.#create = create;
  }

  portOf(proxy: ContextProxy): Promise<number> {
    const key = JSON.stringify([proxy.url, proxy.bypassHosts]);
    const known = this.#servers.get(key);
    if (known !== undefined) {
      // Most recently used last.
      this.#servers.delete(key);
      this.#servers.set(key, known);
      return known.port;
    }
    if (this.#servers.size >= maxContextProxies && !this.#closeOldest())
      return Promise.reject(
        new Error(
          `${String(maxContextProxies)} proxies of browser contexts are in use in this session. Close contexts, or use another session.`,
        ),
      );
    const server = this.#create(proxy);
    const entry = { server, port: listen(server), open: 0 };
    server.on("connection", (socket) => {
      entry.open++;
      socket.once("close", () => entry.open--);
    });
    this.#servers.set(key, entry);
    entry.port.catch(() => this.#servers.delete(key));
    return entry.port;
  }

  close(): void {
    for (const { server } of this.#servers.values()) server.close();
    this.#servers.clear();
  }

  #closeOldest(): boolean {
    for (const [key, { server, open }] of this.#servers) {
      if (open > 0) continue;
      this.#servers.delete(key);
      server.close();
      return true;
    }
    return false;
  }
}
