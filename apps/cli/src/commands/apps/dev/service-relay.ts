import { readAtMost } from "@shoal/primitives/node";
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type Server,
  type ServerResponse,
} from "node:http";
import { request as httpsRequest } from "node:https";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";
import type { Reached } from "../../../connection/reach.ts";

const maxRequestBytes = 1024 * 1024;

/**
 * Forwards HTTP of a local app to the service. The service does not know local invocations: the relay removes them from
 * `POST /browsers` and remembers their browsers.
 */
export class ServiceRelay {
  readonly #to: Reached;
  readonly #server: Server;
  /** Session ids by invocation. */
  readonly #sessions = new Map<string, Promise<string | undefined>[]>();

  private constructor(to: Reached) {
    this.#to = to;
    this.#server = createServer((incoming, outgoing) => {
      void this.#answer(incoming, outgoing);
    });
  }

  static async open(to: Reached): Promise<ServiceRelay> {
    const relay = new ServiceRelay(to);
    relay.#server.listen(0, "127.0.0.1");
    await once(relay.#server, "listening");
    return relay;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  begin(invocationId: string): void {
    this.#sessions.set(invocationId, []);
  }

  /** Returns the browsers that an invocation created, and forgets it. */
  async end(invocationId: string): Promise<readonly string[]> {
    const created = await Promise.all(this.#sessions.get(invocationId) ?? []);
    this.#sessions.delete(invocationId);
    return created.filter((id) => id !== undefined);
  }

  /** Invocations with browsers. */
  invocations(): readonly string[] {
    return [...this.#sessions.keys()];
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { url = "/" } = incoming;
    // Any local program can connect. `*` and `http://host/` are not paths.
    if (!url.startsWith("/") || !URL.canParse(this.#to.baseUrl + url)) {
      outgoing.writeHead(400, { "content-type": "application/json", connection: "close" });
      outgoing.end(JSON.stringify({ code: "bad_request", message: "The request has no valid path." }));
      return;
    }
    // As text, because `//` is a path but not a valid URL.
    const [pathname] = url.split("?", 1);
    if (incoming.method !== "POST" || pathname !== "/browsers") {
      this.#forward(incoming, outgoing);
      return;
    }
    const body = await bodyOf(incoming).catch(() => undefined);
    if (body === undefined) {
      outgoing.writeHead(413, { connection: "close" }).end();
      return;
    }
    const { invocation, rest } = withoutInvocation(body);
    const sessions = invocation === undefined ? undefined : this.#sessions.get(invocation);
    if (sessions === undefined) this.#forward(incoming, outgoing, { body });
    else {
      const { promise, resolve } = Promise.withResolvers<string | undefined>();
      sessions.push(promise);
      this.#forward(incoming, outgoing, { body: rest, onAnswer: resolve });
    }
  }

  /** With `onAnswer`, the request goes on after the app has left: its session must be known. */
  #forward(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    more: { readonly body?: Buffer; readonly onAnswer?: (sessionId: string | undefined) => void } = {},
  ): void {
    const { baseUrl, project } = this.#to;
    const { body, onAnswer } = more;
    const { host: _host, connection: _connection, ...headers } = incoming.headers;
    if (project !== undefined) headers["x-shoal-project"] = project;
    if (body !== undefined) {
      delete headers["transfer-encoding"];
      delete headers["accept-encoding"];
      headers["content-length"] = String(body.length);
    }
    const send = baseUrl.startsWith("https:") ? httpsRequest : httpRequest;
    const sent = send(new URL(baseUrl + (incoming.url ?? "/")), { method: incoming.method, headers });
    if (onAnswer === undefined) outgoing.on("close", () => sent.destroy());
    sent.on("error", (error) => {
      onAnswer?.(undefined);
      if (outgoing.headersSent) outgoing.destroy();
      else {
        const message = `Cannot reach ${baseUrl}: ${error.message}.`;
        outgoing
          .writeHead(502, { "content-type": "application/json" })
          .end(JSON.stringify({ code: "bad_gateway", message }));
      }
    });
    sent.on("response", (answer) => {
      const { connection: _own, ...answered } = answer.headers;
      outgoing.writeHead(answer.statusCode ?? 502, answered);
      if (onAnswer === undefined) pipeline(answer, outgoing, () => undefined);
      else
        bodyOf(answer).then(
          (content) => {
            onAnswer(sessionIn(content));
            outgoing.end(content);
          },
          () => {
            onAnswer(undefined);
            outgoing.destroy();
          },
        );
    });
    if (body === undefined) pipeline(incoming, sent, () => undefined);
    else sent.end(body);
  }
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const bytes = await readAtMost(incoming, maxRequestBytes);
  if (bytes === undefined) throw new RangeError("The body is too large.");
  return bytes;
}

function fieldsIn(json: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(json.toString("utf8"));
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function withoutInvocation(body: Buffer): { readonly invocation?: string; readonly rest: Buffer } {
  const { invocation_id: invocation, ...rest } = fieldsIn(body);
  return typeof invocation === "string" ? { invocation, rest: Buffer.from(JSON.stringify(rest)) } : { rest: body };
}

function sessionIn(answer: Buffer): string | undefined {
  const { session_id } = fieldsIn(answer);
  return typeof session_id === "string" ? session_id : undefined;
}
