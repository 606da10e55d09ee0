import type { Contract } from "@shoal/contract";
import Fastify from "fastify";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { answerClientError, HttpRouter, requestIdOf } from "../adapters/http.ts";
import { configure, fastifyOptions, mountAll } from "../adapters/fastify.ts";
import type { Handler, Handlers } from "../handler/handler.ts";
import type { OperationOptions } from "../operation/operation.ts";
import { fixture, type Fixture } from "./fixture.ts";

/** Result of the tests' `context` function. */
interface TestContext {
  readonly user: string;
}

type SomeHandlers = { readonly [Name in keyof Fixture]?: Handler<Fixture[Name], TestContext> };

interface TestServer {
  readonly port: number;
  readonly url: string;
  readonly faults: { readonly error: unknown; readonly requestId: string | undefined }[];
}

/** On real sockets. */
export interface Adapter {
  readonly name: string;
  readonly start: (handlers: SomeHandlers, options?: TestOptions) => Promise<TestServer>;
}

interface TestOptions extends OperationOptions {
  readonly context?: (headers: IncomingHttpHeaders) => TestContext | Promise<TestContext>;
}

const defaultContext = ({ "x-user": user }: IncomingHttpHeaders): TestContext => ({
  user: typeof user === "string" ? user : "nobody",
});

function contractOf(handlers: SomeHandlers): Contract {
  return Object.fromEntries(Object.entries(fixture).filter(([name]) => name in handlers));
}

/** {@link SomeHandlers} has checked each pair. */
function asHandlers(handlers: SomeHandlers): Handlers<Contract, TestContext> {
  return handlers as unknown as Handlers<Contract, TestContext>;
}

async function startFastify(
  handlers: SomeHandlers,
  { context = defaultContext, ...options }: TestOptions = {},
): Promise<TestServer> {
  const faults: TestServer["faults"] = [];
  // pino writes one JSON line per call; only faults are logged as errors.
  const stream = {
    write(line: string) {
      const { err, reqId } = JSON.parse(line) as { err?: unknown; reqId?: string };
      faults.push({ error: err, requestId: reqId });
    },
  };
  const app = Fastify({ ...fastifyOptions, forceCloseConnections: true, logger: { level: "error", stream } });
  configure(app);
  mountAll(app, contractOf(handlers), asHandlers(handlers), {
    ...options,
    context: (request) => context(request.headers),
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  return { faults, port, url: `http://127.0.0.1:${port}` };
}

async function startHttp(
  handlers: SomeHandlers,
  { context = defaultContext, ...options }: TestOptions = {},
): Promise<TestServer> {
  const faults: TestServer["faults"] = [];
  const router = new HttpRouter<TestContext>({
    ...options,
    context: (request) => context(request.headers),
    onError: (error, requestId) => faults.push({ error, requestId }),
  });
  router.mountAll(contractOf(handlers), asHandlers(handlers));
  const server = createServer(router.handle);
  server.on("clientError", (error, socket) => {
    answerClientError(error, socket, requestIdOf({}));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { faults, port, url: `http://127.0.0.1:${port}` };
}

export const adapters: readonly Adapter[] = [
  { name: "fastify", start: startFastify },
  { name: "http", start: startHttp },
];

export function send(method: string, body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method,
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  };
}

export async function answerOf(
  response: Promise<Response>,
): Promise<{ status: number; body: unknown; headers: Headers }> {
  const { headers, status, text } = await response.then(async (received) => ({
    headers: received.headers,
    status: received.status,
    text: await received.text(),
  }));
  return { status, headers, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
}

export async function problemsOf(response: Promise<Response>): Promise<string[]> {
  const { body, status } = await answerOf(response);
  if (status !== 400) throw new Error(`Expected a 400, got ${status}: ${JSON.stringify(body)}`);
  const { details = [] } = body as { details?: { message: string }[] };
  return details.map(({ message }) => message);
}

export async function rawConnection(
  port: number,
  text: string,
): Promise<{ socket: Socket; readonly received: () => string }> {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, "connect");
  let received = "";
  socket.on("error", () => undefined);
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
  });
  socket.write(text);
  return { socket, received: () => received };
}
