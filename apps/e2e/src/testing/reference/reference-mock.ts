import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ReferenceOperation } from "./reference-document.ts";

export interface MockAnswer {
  readonly status: number;
  readonly mediaType: string | undefined;
  /** A JSON value; the events of a stream; nothing for bytes and empty answers. */
  readonly values: readonly unknown[];
}

/** A server with the routes of the wire reference. It answers each request with the answer set by the test. */
export class ReferenceMock implements AsyncDisposable {
  readonly #server: Server;
  readonly #routes: readonly { readonly operation: ReferenceOperation; readonly pattern: RegExp }[];
  #answer: MockAnswer = { status: 204, mediaType: undefined, values: [] };
  #received: ReferenceOperation | undefined;

  constructor(operations: readonly ReferenceOperation[]) {
    this.#routes = operations
      .map((operation) => ({ operation, pattern: patternOf(operation.path) }))
      // `/browsers/{id}` after `/browsers/settings`.
      .toSorted((a, b) => a.operation.path.split("{").length - b.operation.path.split("{").length);
    // With a limit, a pause of this process makes the server close the connection of a request that is on its way.
    this.#server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
      this.#serve(request, response);
    });
  }

  /** Starts to listen on a free port of 127.0.0.1. @returns the base URL. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  answerWith(answer: MockAnswer): void {
    this.#answer = answer;
    this.#received = undefined;
  }

  /** The operation of the request since `answerWith`. */
  get received(): ReferenceOperation | undefined {
    return this.#received;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const route = this.#routes.find(
      ({ operation, pattern }) => operation.method === request.method && pattern.test(path),
    );
    this.#received = route?.operation;
    request.resume();
    request.once("end", () => {
      if (route === undefined) response.writeHead(404).end();
      else this.#send(response);
    });
  }

  #send(response: ServerResponse): void {
    const { mediaType, status, values } = this.#answer;
    if (mediaType === undefined) response.writeHead(status).end();
    else {
      response.writeHead(status, { "content-type": mediaType });
      if (mediaType === "application/json") response.end(JSON.stringify(values[0]));
      else if (mediaType === "text/event-stream")
        response.end(values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join(""));
      else response.end("content");
    }
  }
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(".", String.raw`\.`).replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}
