import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
}

export interface TestServer extends AsyncDisposable {
  readonly baseUrl: string;
  /** Every request, in the order of their headers. */
  readonly seen: readonly Seen[];
  /** Number of open connections. */
  connections(): Promise<number>;
}

/** Starts a real server on a real socket that does anything a test requires. */
export async function serve(
  handler: (request: IncomingMessage, response: ServerResponse, count: number) => void,
): Promise<TestServer> {
  const seen: Seen[] = [];
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    seen.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers });
    handler(request, response, seen.length);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    seen,
    connections: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => {
          if (error === null) resolve(count);
          else reject(error);
        });
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function reply(
  response: ServerResponse,
  status: number,
  body?: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, {
    ...(body !== undefined && { "content-type": "application/json" }),
    "x-request-id": "req_test",
    ...headers,
  });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

export const profile = { id: "p1", name: "work", created_at: "2026-01-31T12:00:00.000Z" };

export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("It did not reject.");
}
