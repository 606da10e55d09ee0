import { connectionFailure, EgressFailure } from "./egress-failure.ts";
import { endsAtHttpProxy, hostOf, openToLastHop, openTunnel, type EgressRoute } from "./egress-route.ts";
import { type ParsedUpstream, parseUpstream } from "./egress-upstream.ts";
import { Agent, type ClientRequestArgs } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/**
 * First header of a connection's first request, set by the instance's forwarder and parsed as a query: `browser=1` for connections of Chromium, which get no answer where the
 * gateway fails, and `proxy=URL` with `bypass=HOST` for those of a browser context with its own proxy. Headers of pages come later.
 */
export const clientHeader = "shoal-egress-client";

/** Options of a request through {@link EgressClient.agent}. */
export interface RoutedRequest extends ClientRequestArgs {
  readonly route: EgressRoute;
}

/** One connection of a browser or a program to the gateway, with the connections to the network that it caused. */
export class EgressClient {
  readonly socket: Socket;
  /** Keeps the connection to the network while this one lasts. */
  readonly agent: Agent;
  /** Aborts when the connection is closed. */
  readonly gone = new AbortController();
  readonly #connectMs: number;
  readonly #outside = new Set<Socket>();
  #isKnown = false;
  #isBrowser = false;
  #proxy: ParsedUpstream | undefined;
  /** Requests are answered one at a time: a pipeline of them would open as many connections. */
  isBusy = false;

  constructor(socket: Socket, connectMs: number) {
    this.socket = socket;
    this.#connectMs = connectMs;
    this.agent = new ClientAgent(this);
    socket.once("close", () => {
      this.gone.abort();
      this.agent.destroy();
      for (const outside of this.#outside) outside.destroy();
    });
  }

  /** Whether Chromium is at the other end. */
  get isBrowser(): boolean {
    return this.#isBrowser;
  }

  /** The proxy of a browser context. */
  get proxy(): ParsedUpstream | undefined {
    return this.#proxy;
  }

  /** Reads the first request's {@link clientHeader}. @throws {PlacementError} `bad_option` for an invalid proxy. */
  learn(rawHeaders: readonly string[]): void {
    if (this.#isKnown) return;
    this.#isKnown = true;
    if (rawHeaders[0]?.toLowerCase() !== clientHeader) return;
    const fields = new URLSearchParams(rawHeaders[1]);
    this.#isBrowser = fields.get("browser") === "1";
    const url = fields.get("proxy");
    if (url !== null) this.#proxy = parseUpstream({ url, bypassHosts: fields.getAll("bypass") });
  }

  /** Opens a connection for a tunnel, or for plain requests. @throws {EgressFailure} */
  async open(route: EgressRoute, kind: "tunnel" | "requests"): Promise<Socket> {
    const late = new AbortController();
    const what = hostOf(route.hops[0]?.proxy ?? route.target);
    const timer = setTimeout(() => {
      late.abort(new EgressFailure(504, `The connection to ${what} timed out.`, { code: "ETIMEDOUT" }));
    }, this.#connectMs);
    const signal = AbortSignal.any([this.gone.signal, late.signal]);
    const onSocket = (socket: Socket): void => {
      this.#outside.add(socket);
      socket.once("close", () => {
        this.#outside.delete(socket);
      });
    };
    const open = kind === "requests" && endsAtHttpProxy(route) ? openToLastHop : openTunnel;
    try {
      return await open(route, { signal, onSocket });
    } finally {
      clearTimeout(timer);
    }
  }
}

class ClientAgent extends Agent {
  readonly #client: EgressClient;

  constructor(client: EgressClient) {
    super({ keepAlive: true, maxFreeSockets: 1 });
    this.#client = client;
  }

  override createConnection(options: ClientRequestArgs, callback?: (error: Error | null, socket: Duplex) => void): undefined {
    // Only requests with a route use this agent.
    const { route } = options as RoutedRequest;
    this.#client.open(route, "requests").then(
      (socket) => callback?.(null, socket),
      (error: unknown) => {
        // Node takes no socket with an error; its type wants one.
        callback?.(toFailure(error), undefined as unknown as Duplex);
      },
    );
  }
}

function toFailure(error: unknown): EgressFailure {
  return connectionFailure(error, "the network");
}
