import { connectionFailure, EgressFailure } from "./failure.ts";
import {
  type DialOptions,
  endsAtHttpProxy,
  explainRoute,
  hostOf,
  openToLastHop,
  openTunnel,
  type EgressRoute,
  secureTunnel,
} from "./route.ts";
import { type ParsedUpstream, parseUpstream } from "./upstream.ts";
import { anySignal } from "@shoal/primitives";
import { Agent, type ClientRequestArgs } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/**
 * The instance's forwarder puts this query before all headers of a page: `browser=1` for Chromium, which gets no answer
 * when the gateway fails; `proxy=URL` and `bypass=HOST` for a browser context with a proxy.
 */
export const clientHeader = "shoal-egress-client";

/** `requests`: not in a tunnel, if the last proxy accepts requests. `tls`: a tunnel in which the gateway is the client of TLS. */
export type EgressWay = "requests" | "tunnel" | "tls";

export interface RoutedRequest extends ClientRequestArgs {
  readonly route: EgressRoute;
  readonly way: EgressWay;
}

export class EgressClient {
  readonly socket: Socket;
  /** Keeps the connection to the network alive while this one is open. */
  readonly agent: Agent;
  readonly gone = new AbortController();
  readonly #connectMs: number;
  readonly #outside = new Set<Socket>();
  #kept: Socket | undefined;
  #isKnown = false;
  #isBrowser = false;
  #proxy: ParsedUpstream | undefined;
  /** Refuses pipelined requests: each would open a connection. */
  isBusy = false;
  /** Of the running or last request, or of the tunnel. */
  route: EgressRoute | undefined;
  /** The host that its tunnel named inside, as far as it was read. */
  inside: string | undefined;

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

  get isBrowser(): boolean {
    return this.#isBrowser;
  }

  get proxy(): ParsedUpstream | undefined {
    return this.#proxy;
  }

  learn(rawHeaders: readonly string[]): void {
    if (this.#isKnown) return;
    this.#isKnown = true;
    if (rawHeaders[0]?.toLowerCase() !== clientHeader) return;
    const fields = new URLSearchParams(rawHeaders[1]);
    this.#isBrowser = fields.get("browser") === "1";
    const url = fields.get("proxy");
    if (url !== null) this.#proxy = parseUpstream({ url, bypassHosts: fields.getAll("bypass") });
  }

  /** The tunnel for the next connection to the host of a tunnel that the gateway opens. */
  keep(tunnel: Socket): void {
    this.#kept = tunnel;
  }

  async open(route: EgressRoute, way: EgressWay): Promise<Socket> {
    const late = new AbortController();
    const what = hostOf(route.hops[0]?.proxy ?? route.target);
    const timer = setTimeout(() => {
      late.abort(new EgressFailure(504, `The connection to ${what} timed out.`, { code: "ETIMEDOUT" }));
    }, this.#connectMs);
    const signal = anySignal([this.gone.signal, late.signal]);
    const onSocket = (socket: Socket): void => {
      this.#outside.add(socket);
      socket.once("close", () => {
        this.#outside.delete(socket);
      });
    };
    try {
      return await this.#dial(route, way, { signal, onSocket });
    } finally {
      clearTimeout(timer);
    }
  }

  async #dial(route: EgressRoute, way: EgressWay, options: DialOptions): Promise<Socket> {
    if (way === "requests" && endsAtHttpProxy(route)) return openToLastHop(route, options);
    const kept = this.#kept;
    this.#kept = undefined;
    const isUsable = kept?.writable === true && kept.readable;
    const tunnel = isUsable ? kept : await openTunnel(route, options).catch(explainRoute(route));
    return way === "tls" ? secureInTime(tunnel, route, options) : tunnel;
  }
}

/** A kept tunnel has the deadline of an earlier call, which has ended. */
async function secureInTime(tunnel: Socket, { target }: EgressRoute, { signal }: DialOptions): Promise<Socket> {
  const onAbort = (): void => {
    tunnel.destroy();
  };
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await secureTunnel(tunnel, target);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

class ClientAgent extends Agent {
  readonly #client: EgressClient;

  constructor(client: EgressClient) {
    super({ keepAlive: true, maxFreeSockets: 1 });
    this.#client = client;
  }

  /** After a change of rules, a kept connection may lead to an address that is refused now. */
  override getName(options?: ClientRequestArgs): string {
    const { route, way } = options as RoutedRequest;
    const { addresses } = route;
    return [super.getName(options), way, ...addresses.map(({ address }) => address).sort()].join(" ");
  }

  override createConnection(
    options: ClientRequestArgs,
    callback?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    const { route, way } = options as RoutedRequest;
    this.#client.open(route, way).then(
      (socket) => callback?.(null, socket),
      (error: unknown) => {
        callback?.(toFailure(error), undefined as unknown as Duplex);
      },
    );
  }
}

function toFailure(error: unknown): EgressFailure {
  return connectionFailure(error, "the network");
}
