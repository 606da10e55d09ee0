import type { Endpoint } from "@shoal/contract/endpoint";
import {
  ApiError,
  callOf,
  ConnectionError,
  createTransport,
  type CallOptions,
  type RequestInfo,
  type Transport,
  type TransportHooks,
  type TransportOptions,
} from "@shoal/transport";

/** A direct route to the instance of a session. */
export interface SessionRoute {
  /** `base_url` of the session without a trailing slash. */
  readonly baseUrl: string;
  /** Sent as `jwt` in the query. Secret. */
  readonly token: string;
  readonly transport: Transport;
}

const prefix = "/browsers/{id}";
/** Limit of stored routes; the oldest one is evicted first. */
const maxRoutes = 10_000;

export class SessionRoutes {
  readonly #options: TransportOptions;
  readonly #routes = new Map<string, SessionRoute>();
  constructor(options: TransportOptions) {
    this.#options = options;
  }

  get(sessionId: string): SessionRoute | undefined {
    return this.#routes.get(sessionId);
  }
  forget(sessionId: string): void {
    this.#routes.delete(sessionId);
  }
  /** Removes the route when the session has ended or has no route. */
  learn(session: object): void {
    const {
      session_id: id,
      base_url: baseUrl,
      cdp_ws_url: cdpUrl,
      deleted_at: endedAt,
    } = session as Readonly<Record<string, unknown>>;
    if (typeof id !== "string") return;
    this.#routes.delete(id);
    if (
      typeof baseUrl !== "string" ||
      typeof cdpUrl !== "string" ||
      typeof endedAt === "string" ||
      !this.#isSafe(baseUrl)
    )
      return;
    const token = URL.canParse(cdpUrl) ? new URL(cdpUrl).searchParams.get("jwt") : null;
    if (token === null || !/^[\x21-\x7e]+$/.test(token)) return;
    // As `apiKey` the token is redacted from logs and errors. Requests to the instance carry no key (`atInstance`).
    const transport = createTransport({
      ...this.#options,
      baseUrl,
      apiKey: token,
      project: undefined,
      hooks: withoutToken(this.#options),
    });
    this.#routes.set(id, { baseUrl: transport.baseUrl, token, transport });
    for (const oldest of this.#routes.keys()) {
      if (this.#routes.size <= maxRoutes) break;
      this.#routes.delete(oldest);
    }
  }

  /** The token must not be sent unencrypted when the key is sent encrypted. */
  #isSafe(baseUrl: string): boolean {
    if (!URL.canParse(baseUrl)) return false;
    const { protocol, search, hash, username } = new URL(baseUrl);
    const isOpen = new URL(this.#options.baseUrl).protocol === "http:";
    return (protocol === "https:" || (protocol === "http:" && isOpen)) && search + hash + username === "";
  }
}

/** Hooks of the caller receive URLs without the token. */
function withoutToken({ hooks }: TransportOptions): readonly TransportHooks[] | undefined {
  if (hooks === undefined) return undefined;
  const hidden = <Info extends RequestInfo>(info: Info): Info => ({
    ...info,
    url: info.url.replace(/([?&]jwt=)[^&]*/, "$1[token]"),
  });
  const all = "length" in hooks ? hooks : [hooks];
  return all.map((hook) => ({
    onRequest: (info) => hook.onRequest?.(hidden(info)),
    onResponse: (info) => hook.onResponse?.(hidden(info)),
    onFailure: (info) => hook.onFailure?.(hidden(info)),
    onRetry: (retry) => hook.onRetry?.(retry),
  }));
}

const shortened = new WeakMap<Endpoint, Endpoint>();

function atInstance<E extends Endpoint>(endpoint: E): E {
  const known = shortened.get(endpoint) ?? { ...endpoint, path: endpoint.path.slice(prefix.length), auth: "none" };
  shortened.set(endpoint, known);
  // Only path and auth differ, which do not affect the types of requests and results.
  return known as E;
}

interface AnyRequest {
  readonly params?: { readonly id?: string; readonly id_or_name?: string };
  readonly query?: object;
  readonly body?: unknown;
}

const withToken = (request: AnyRequest, { token }: SessionRoute): AnyRequest => ({
  ...request,
  query: { ...request.query, jwt: token },
});

/** True if the direct route cannot be used, and the service may reach the instance. */
const isLost = (error: unknown): boolean =>
  ConnectionError.isInstance(error) || (ApiError.isInstance(error) && error.status === 401);

/** False when the body contains a stream. */
function isRepeatable(body: unknown): boolean {
  if (body instanceof ReadableStream) return false;
  return (
    typeof body !== "object" ||
    body === null ||
    body instanceof Blob ||
    ArrayBuffer.isView(body) ||
    body instanceof ArrayBuffer ||
    Object.values(body).every(isRepeatable)
  );
}

/**
 * Sends `direct` operations, which have many bytes, to the instance when its route is known. Other operations, and those whose instance
 * cannot be reached, go through the service.
 */
export function routedTransport(service: Transport, routes: SessionRoutes): Transport {
  const routeFor = (endpoint: Endpoint, request: AnyRequest) => {
    const id = request.params?.id;
    return endpoint.inSession?.direct === true && id !== undefined ? routes.get(id) : undefined;
  };
  type Way = "call" | "download" | "fetch";
  function run(way: Way, endpoint: Endpoint, request: AnyRequest = {}, options: CallOptions = {}): Promise<unknown> {
    const { operationId } = endpoint;
    const route = routeFor(endpoint, request);
    if (route !== undefined) {
      // Both routes lead to the same instance, which executes each idempotency key once.
      const both = { ...options, idempotencyKey: options.idempotencyKey ?? crypto.randomUUID() };
      return route.transport[way](atInstance(endpoint), withToken(request, route), both).catch((error: unknown) => {
        if (!isLost(error)) throw error;
        routes.forget(request.params?.id ?? "");
        // Without a key, the instance may execute a POST whose answer was lost, and then again.
        const isOnce = endpoint.method === "POST" && both.idempotencyKey === false && ConnectionError.isInstance(error);
        if (isOnce || !isRepeatable(request.body)) throw error;
        return service[way](endpoint, request, both);
      });
    }
    const result: Promise<unknown> = service[way](endpoint, request, options);
    if (operationId === "browsers.delete") {
      return result.then(() => {
        routes.forget(request.params?.id_or_name ?? "");
      });
    }
    return way === "call" && endpoint.returnsSessions === true ? result.then(learnFrom) : result;
  }
  function learnFrom(result: unknown): unknown {
    if (typeof result !== "object" || result === null) return result;
    const { browsers, items = browsers } = result as { readonly browsers?: unknown; readonly items?: unknown };
    const sessions: unknown[] = Array.isArray(items) ? items : [result];
    for (const session of sessions) if (typeof session === "object" && session !== null) routes.learn(session);
    return result;
  }
  return {
    baseUrl: service.baseUrl,
    // The types follow from the endpoint, as in the transport.
    call: (endpoint, ...[request, options]) =>
      callOf(options, (all) => run("call", endpoint, request as AnyRequest, all) as Promise<never>),
    download: (endpoint, ...[request, options]) =>
      run("download", endpoint, request as AnyRequest, options) as Promise<never>,
    fetch: (endpoint, ...[request, options]) =>
      run("fetch", endpoint, request as AnyRequest, options) as Promise<Response>,
    stream(endpoint, ...args) {
      const [given, options = {}] = args;
      const request: AnyRequest = given ?? {};
      const route = routeFor(endpoint, request);
      if (route === undefined) return service.stream(endpoint, ...args);
      const direct = route.transport.stream(atInstance(endpoint), withToken(request, route) as never, options);
      return direct.orElse((error) => {
        if (!isLost(error)) return undefined;
        routes.forget(request.params?.id ?? "");
        return service.stream(endpoint, ...args);
      });
    },
  };
}
