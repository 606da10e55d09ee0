import { contract, type Endpoint } from "@shoal/contract";
import type { Handler, Handlers } from "@shoal/router";
import { createHttpRouter } from "@shoal/router/http";
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** One request, as it came. */
export interface SeenRequest {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

export interface PartService extends AsyncDisposable {
  readonly baseUrl: string;
  readonly requests: readonly SeenRequest[];
  /** Cuts every connection, as a network does. */
  cut(): void;
}

/** The real router with those operations of the contract that a test is about. Every key is good. */
export async function startPartService(handlers: Partial<Handlers<typeof contract>>): Promise<PartService> {
  const requests: SeenRequest[] = [];
  const router = createHttpRouter({
    context: (request: IncomingMessage) => {
      requests.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers });
      return undefined;
    },
  });
  // Which handler fits which endpoint was checked by the parameter's type.
  const given = handlers as Readonly<Record<string, Handler<Endpoint> | undefined>>;
  for (const [name, endpoint] of Object.entries<Endpoint>(contract)) {
    const handler = given[name];
    if (handler !== undefined) router.mount(endpoint, handler);
  }
  const server = createServer((request, response) => {
    router.handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    cut() {
      server.closeAllConnections();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
