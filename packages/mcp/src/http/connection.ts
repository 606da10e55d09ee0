import { type McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { OwnBrowser } from "../browser/own-browser.ts";
import { createServer } from "../server/create-server.ts";
import type { Caller } from "./caller.ts";
import { RecentEvents } from "./recent-events.ts";

/** Clients wait so long before they resume a broken stream. */
const retryMs = 1_000;

/** A connection of a client with a session of the protocol (revisions before 2026-07-28). */
export class Connection {
  readonly id: string;
  readonly keyId: string;
  readonly #projectId: string;
  readonly #rights: string | undefined;
  readonly #own: OwnBrowser;
  readonly #server: McpServer;
  readonly #http: WebStandardStreamableHTTPServerTransport;
  #inUse = 0;
  #usedAtMs = performance.now();
  #closing: Promise<void> | undefined;

  constructor(id: string, caller: Caller, options: { readonly version: string; readonly onClosed: () => void }) {
    const { keyId, mayCall, projectId, rights, settings } = caller;
    const transport = caller.connect();
    this.id = id;
    this.keyId = keyId;
    this.#projectId = projectId;
    this.#rights = rights;
    this.#own = new OwnBrowser(transport, settings.browser, settings.session);
    this.#server = createServer({ transport, settings, mayCall, own: this.#own, version: options.version });
    this.#http = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      eventStore: new RecentEvents(),
      retryInterval: retryMs,
      onsessionclosed: () => {
        // The answer to the DELETE does not wait for the browser's end.
        void this.close();
      },
    });
    this.#server.server.onclose = options.onClosed;
  }

  async open(): Promise<void> {
    await this.#server.connect(this.#http);
  }

  /** Whether it belongs to this caller. */
  serves({ keyId, projectId, rights }: Pick<Caller, "keyId" | "projectId" | "rights">): boolean {
    return keyId === this.keyId && projectId === this.#projectId && rights === this.#rights;
  }

  /** False if the first request did not establish a session. */
  get isEstablished(): boolean {
    return this.#http.sessionId !== undefined;
  }

  async handle(request: Request): Promise<Response> {
    this.#inUse += 1;
    try {
      return tracked(await this.#http.handleRequest(request), () => {
        this.#release();
      });
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  #release(): void {
    this.#inUse -= 1;
    this.#usedAtMs = performance.now();
  }

  /** Milliseconds without a request or an open stream. */
  get idleMs(): number {
    return this.#inUse > 0 ? 0 : performance.now() - this.#usedAtMs;
  }

  /** Ends the browser that the connection started. */
  close(): Promise<void> {
    return (this.#closing ??= Promise.all([this.#server.close(), this.#own.close()]).then(() => undefined));
  }
}

/** Calls `onEnd` once, when the body has been read or cancelled. */
function tracked(response: Response, onEnd: () => void): Response {
  if (response.body === null) {
    onEnd();
    return response;
  }
  const reader = response.body.getReader();
  let isOpen = true;
  const end = (): void => {
    if (isOpen) onEnd();
    isOpen = false;
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          controller.enqueue(value);
          return;
        }
        end();
        controller.close();
      } catch (error) {
        end();
        controller.error(error);
      }
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}
