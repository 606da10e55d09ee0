import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** A provider's HTTP API on this machine, whose model follows a script. */
export interface ModelServer<Request> extends AsyncDisposable {
  readonly baseURL: string;
  readonly requests: Request[];
}

/** @param answer - the body of the answer to each request. Its errors end the client's call with their message. */
export async function serveModel<Request>(
  answer: (request: Request, count: number) => object,
): Promise<ModelServer<Request>> {
  const requests: Request[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      requests.push(body as Request);
      response.setHeader("content-type", "application/json");
      try {
        response.end(JSON.stringify(answer(body as Request, requests.length - 1)));
      } catch (error) {
        response.statusCode = 400;
        response.end(
          JSON.stringify({ type: "error", error: { type: "invalid_request_error", message: String(error) } }),
        );
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseURL: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    requests,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}
