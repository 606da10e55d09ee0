import { contract, type Endpoint } from "@shoal/contract";
import type { Handler, Handlers } from "@shoal/router";
import { HttpRouter } from "@shoal/router/http";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface PartialService extends AsyncDisposable {
  readonly baseUrl: string;
  /** `METHOD /path` of every request, and its headers. */
  readonly requests: { readonly line: string; readonly headers: IncomingMessage["headers"] }[];
}

/**
 * Starts the real router with handlers for some operations.
 * @param options - `stripPrefix`: serve paths like an instance; `otherwise`: responds to paths outside the contract.
 */
export async function startPartialService(
  handlers: Partial<Handlers<typeof contract>>,
  options: { stripPrefix?: string; otherwise?: (request: IncomingMessage, response: ServerResponse) => boolean } = {},
): Promise<PartialService> {
  const requests: PartialService["requests"] = [];
  const router = new HttpRouter({
    context: () => undefined,
    ...(options.stripPrefix !== undefined && {
      stripPrefix: options.stripPrefix,
      prefixParams: () => ({ id: "of-the-instance" }),
    }),
  });
  // The parameter's type matches each name with its handler.
  for (const [name, handler] of Object.entries(handlers))
    router.mount<Endpoint>(contract[name as keyof typeof contract], handler as unknown as Handler<Endpoint>);
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    requests.push({ line: `${request.method ?? ""} ${request.url ?? ""}`, headers: request.headers });
    if (options.otherwise?.(request, response) !== true) router.handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
