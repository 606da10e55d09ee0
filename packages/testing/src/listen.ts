import type { IncomingMessage, ServerResponse } from "node:http";

/** Options of {@link FakeShoal.listen}. */
export interface ListenOptions {
  /** TCP port; default a free one. */
  readonly port?: number;
  /** Address to listen on; default 127.0.0.1. */
  readonly host?: string;
}

/** A listening fake. With `await using` it closes with the scope. */
export interface FakeListener extends AsyncDisposable {
  /** `http://127.0.0.1:34567`. */
  readonly baseUrl: string;
  /** Closes all connections and stops listening. The fake's state stays. */
  close(): Promise<void>;
}

/** Serves a handler of Node's requests. @throws {Error} if the port is taken. */
export async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  { host = "127.0.0.1", port = 0 }: ListenOptions = {},
): Promise<FakeListener> {
  // Loaded lazily: tests that only use `fetch` open no socket.
  const { createServer } = await import("node:http");
  const { answerClientError, requestIdOf } = await import("@shoal/router/http");
  const server = createServer(handle);
  server.on("clientError", (error, socket) => {
    answerClientError(error, socket, requestIdOf({}));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("A TCP server has an address and a port.");
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
    });
    server.closeAllConnections();
    await closed;
  };
  return {
    baseUrl: `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`,
    close,
    [Symbol.asyncDispose]: close,
  };
}
