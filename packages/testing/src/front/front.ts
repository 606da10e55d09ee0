import { contract, type Endpoint } from "@shoal/contract";
import { ServiceError } from "@shoal/router";
import { answerClientError, answerError, createEndpointFinder, requestIdOf } from "@shoal/router/http";
import { once } from "node:events";
import {
  Agent,
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type FakeCall, recordCall, type RecordedCall } from "./calls.ts";
import { directRequest } from "./direct-path.ts";
import { codeOf, type Fault, Faults } from "./faults.ts";
import type { FakeService } from "../service/fake-service.ts";
import type { OwnOperations } from "./own-operations.ts";
import { closeServer } from "./close-server.ts";
import { passAnswer } from "./pass-answer.ts";

interface FrontOptions {
  /** The present one. */
  readonly service: () => Pick<FakeService, "baseUrl">;
  readonly own: OwnOperations;
}

const maxCalls = 10_000;
/** Larger JSON bodies are refused by the service. */
const maxRecordedBytes = 64 * 2 ** 20;
const findOperation = createEndpointFinder(Object.values<Endpoint>(contract));

/** The address of the fake: records requests, applies faults, and passes everything else to the service. */
export class Front {
  readonly calls: FakeCall[] = [];
  readonly faults = new Faults();
  readonly #options: FrontOptions;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #server: Server = createServer((request, response) => {
    this.#serve(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else answerError(request, response, error);
    });
  });

  constructor(options: FrontOptions) {
    this.#options = options;
    this.#server.on("clientError", (error, socket) => {
      answerClientError(error, socket, requestIdOf({}));
    });
  }

  get baseUrl(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${String(port)}`;
  }

  /** @throws {Error} if the port is taken. */
  async start(port: number): Promise<void> {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
  }

  cutAll(): void {
    this.#server.closeAllConnections();
  }

  clear(): void {
    this.calls.length = 0;
    this.faults.clear();
  }

  async close(): Promise<void> {
    await closeServer(this.#server);
    this.#agent.destroy();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { own, service } = this.#options;
    const { method = "GET" } = request;
    const url = directRequest(request.url ?? "/")?.url ?? request.url ?? "/";
    const found = findOperation(method, url) ?? createEndpointFinder(own.extensions())(method, url);
    const recorded = recordCall(request, response, found);
    this.calls.push(recorded.call);
    if (this.calls.length > maxCalls) this.calls.shift();
    const fault = found && this.faults.take(found.endpoint.operationId);
    if (fault?.delayMs !== undefined && !(await passes(fault.delayMs, response))) return;
    if (fault?.status !== undefined) {
      answerError(request, response, errorOf(fault, fault.status, found?.endpoint.operationId));
      return;
    }
    if (fault?.cut === "before") {
      response.destroy();
      return;
    }
    const target = found !== undefined && own.answers(found.endpoint) ? own.url : service().baseUrl;
    this.#forward({ request, response, recorded, fault }, target);
  }

  #forward(
    {
      fault,
      recorded,
      request,
      response,
    }: {
      readonly request: IncomingMessage;
      readonly response: ServerResponse;
      readonly recorded: RecordedCall;
      readonly fault: Fault | undefined;
    },
    target: string,
  ): void {
    const { connection: _connection, ...headers } = request.headers;
    // The path as it is: `//host/path` and `http://host/path` would be other targets as URLs.
    const { hostname: host, port } = new URL(target);
    const outgoing = httpRequest({
      agent: this.#agent,
      host,
      port,
      path: request.url,
      method: request.method,
      headers,
    });
    response.on("close", () => {
      if (!response.writableFinished) outgoing.destroy();
    });
    outgoing.on("error", () => {
      response.destroy();
    });
    outgoing.on("response", (answer) => {
      passAnswer(answer, response, fault?.cut);
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxRecordedBytes && isJson(request)) chunks.push(chunk);
    });
    request.on("end", () => {
      if (chunks.length > 0) recorded.setBody(Buffer.concat(chunks));
    });
    request.pipe(outgoing);
  }
}

const isJson = ({ headers }: IncomingMessage): boolean => headers["content-type"]?.includes("json") === true;

function errorOf({ message, retryAfterSeconds, ...fault }: Fault, status: number, operationId = ""): ServiceError {
  const text = message ?? `${operationId} was set to fail (failNext).`;
  return new ServiceError(
    status,
    codeOf({ ...fault, status }),
    text,
    retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
  );
}

/** @returns false if the client left meanwhile. */
async function passes(ms: number, response: ServerResponse): Promise<boolean> {
  const left = new AbortController();
  const leave = () => {
    left.abort();
  };
  response.once("close", leave);
  try {
    await sleep(ms, undefined, { signal: left.signal });
    return true;
  } catch {
    return false;
  } finally {
    response.off("close", leave);
  }
}
