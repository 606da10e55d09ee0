import { contract, type Endpoint } from "@shoal/contract";
import {
  IdempotencyMemory,
  repeatable,
  ServiceError,
  type Handler,
  type HandlerCall,
  type Handlers,
} from "@shoal/router";
import { answerFetch } from "@shoal/router/fetch";
import { HttpRouter } from "@shoal/router/http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { authenticate, type Access } from "./state/access.ts";
import * as areas from "./areas.ts";
import { endSession, runningSession } from "./areas/browsers.ts";
import { newProject } from "./areas/projects.ts";
import { recordCall, type FakeCall, type RecordedCall } from "./calls.ts";
import { cutLate, failEarly, Faults, type Fault } from "./faults.ts";
import { listen, type FakeListener, type ListenOptions } from "./listen.ts";
import { pageAccess } from "./logins/handoff.ts";
import { FakeLogins } from "./logins/fake-logins.ts";
import type { FakeAction } from "./state/apps.ts";
import type { FakeProviderItem, FakeSite } from "./state/logins.ts";
import { refuseOutsidePolicy, shownWithinPolicy } from "./state/key-policies.ts";
import { endHandoff } from "./state/handoffs.ts";
import { Store, type SessionRow } from "./state/store.ts";

/** Name of an operation, for instance `profiles.get`. */
export type OperationId = (typeof contract)[keyof typeof contract]["operationId"];

/** In this process without browsers or network. Other operations answer 501, or {@link FakeShoal.handle}. */
export interface FakeShoal {
  /** A key for the whole organisation. */
  readonly apiKey: string;
  /** An address without a listener; `fetch` answers for every host. */
  readonly baseUrl: string;
  /** Answers like the service. Pass it to `new Shoal({ fetch })`. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** The last 10,000 requests since the start or `reset`. */
  readonly calls: readonly FakeCall[];
  /** Several faults apply in order. @throws {TypeError} for an unknown operation. */
  failNext(operationId: OperationId, fault: Fault): void;
  /**
   * Answers an operation with the test's handler, also one of an extension. Requests are still validated and recorded.
   *
   * @example
   * fake.handle(listProxies, () => ({ items: [proxy], hasMore: false, nextOffset: undefined }));
   */
  handle<E extends Endpoint>(endpoint: E, handler: Handler<E, FakeCaller>): void;
  /** Makes a project. @returns its id; create its key with `apiKeys.create({ project_id })`. */
  addProject(name: string): string;
  /**
   * Adds an app to the next deployments. They also have the apps that this process registered with `@shoal/client/app`.
   * Sources of deployments do not run.
   * @param actions - by name; the returned value is the output.
   */
  addApp(name: string, actions: Readonly<Record<string, FakeAction>>): void;
  /**
   * Adds a site that connections sign in to. Other domains ask for a user name and a password, and accept any.
   * @param domain - of the connections.
   *
   * @example
   * fake.addSite("example.com", async (login) => {
   *   await login.ask({ fields: ["username", "password"] });
   *   const { values } = await login.ask({ fields: ["otp"] });
   *   return values.otp === "123456" ? "https://example.com/home" : login.fail("credentials_invalid");
   * });
   */
  addSite(domain: string, site: FakeSite): void;
  /** Completes the action elsewhere that a login waits for, a tap on a phone for instance. @throws {TypeError} if none waits. */
  completeAction(connectionId: string): void;
  /** Ends the login of a connection on its site, so that the next check finds it signed out. @throws {TypeError} for an unknown connection. */
  expireLogin(connectionId: string): void;
  /** Adds an item to the credential providers with this name, for logins that name the provider. */
  addProviderItem(provider: string, item: FakeProviderItem): void;
  /**
   * Ends the active handoff of a session, as the person does.
   * @param note - the person's note.
   * @throws {TypeError} without an active handoff.
   */
  completeHandoff(idOrName: string, note?: string): void;
  /** Ends a running session. @param reason - the session's `ended_reason`; default `timeout`. */
  endBrowser(idOrName: string, reason?: "timeout" | "browser_crashed" | "instance_lost" | "server_stopped"): void;
  /** Resets everything except `apiKey`: sessions, profiles, sites, apps, other keys, projects, faults, handlers and calls. */
  reset(): void;
  /** Serves the same state on a TCP port, for programs without a `fetch` option. Close it at the end of the test. */
  listen(options?: ListenOptions): Promise<FakeListener>;
}

/** The caller of a request. */
export interface FakeCaller {
  readonly keyId: string;
  readonly projectId: string;
}

const maxCalls = 10_000;

interface FakeContext extends Access, FakeCaller {
  readonly recorded: RecordedCall;
  readonly fault: Fault | undefined;
  /** The session, for operations inside a browser. */
  readonly session: SessionRow | undefined;
}

interface State {
  readonly store: Store;
  readonly memory: IdempotencyMemory<FakeContext>;
  /** By the operation's name in the contract. */
  readonly handlers: ReadonlyMap<string, Handler<Endpoint, FakeContext>>;
}

type Makers = Pick<typeof areas, Extract<keyof typeof areas, `${string}Handlers`>>;
const makersOfHandlers: Readonly<Record<string, (store: Store) => Partial<Handlers<typeof contract, FakeContext>>>> =
  Object.fromEntries(Object.entries(areas).filter(([name]) => name.endsWith("Handlers"))) as unknown as Makers;

function createState(apiKey?: string): State {
  const store = new Store(apiKey);
  const handlers = Object.values(makersOfHandlers).map((handlersOf) => handlersOf(store));
  // The types of the makers tie each handler to its endpoint.
  const byName = new Map(
    Object.entries(Object.assign({}, ...handlers) as Record<string, Handler<Endpoint, FakeContext>>),
  );
  // The same operations at their legacy paths.
  for (const [name, handler] of [...byName]) if (`${name}Legacy` in contract) byName.set(`${name}Legacy`, handler);
  return {
    store,
    memory: new IdempotencyMemory<FakeContext>({ scopeOf: ({ key, session }) => session?.id ?? key.id }),
    handlers: byName,
  };
}

/** The operations with behaviour by name, sorted, for the README. */
export function operationsInMemory(): OperationId[] {
  const { handlers } = createState();
  return Object.entries(contract)
    .filter(([name]) => handlers.has(name))
    .map(([, { operationId }]) => operationId)
    .sort();
}

class FakeService {
  state = createState();
  readonly faults = new Faults();
  readonly calls: FakeCall[] = [];
  readonly ownHandlers = new Map<string, Handler<Endpoint, FakeContext>>();
  readonly #records = new WeakMap<IncomingMessage, RecordedCall>();
  readonly #mounted = new Set<string>();
  readonly #router = new HttpRouter<FakeContext>({
    context: (request, endpoint) => this.#contextOf(request, endpoint),
  });

  constructor() {
    for (const [name, endpoint] of Object.entries<Endpoint>(contract)) this.#mount(endpoint, name);
  }

  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    const recorded = recordCall(request, response);
    this.#records.set(request, recorded);
    this.calls.push(recorded.call);
    if (this.calls.length > maxCalls) this.calls.shift();
    this.#router.handle(request, response);
  };

  setHandler(endpoint: Endpoint, handler: Handler<Endpoint, FakeContext>): void {
    if (!this.#mounted.has(endpoint.operationId)) this.#mount(endpoint, endpoint.operationId);
    this.ownHandlers.set(endpoint.operationId, handler);
  }

  reset(): void {
    const { store } = this.state;
    const { adminKey, connections, deployments, invocations, sessions } = store;
    for (const session of sessions) endSession(store, session, "server_stopped");
    for (const { events, stop } of invocations) {
      stop.abort();
      events.close();
    }
    for (const { events } of deployments) events.close();
    const logins = new FakeLogins(this.state.store);
    for (const connection of connections) logins.cancel(connection);
    this.state = createState(adminKey.secret);
    this.faults.clear();
    this.ownHandlers.clear();
    this.calls.length = 0;
  }

  async #contextOf(request: IncomingMessage, endpoint: Endpoint): Promise<FakeContext> {
    const { store } = this.state;
    const recorded = this.#records.get(request);
    if (recorded === undefined) throw new TypeError("A request came past `handle`.");
    const { call } = recorded;
    call.operationId = endpoint.operationId;
    const fault = this.faults.take(endpoint.operationId);
    if (fault !== undefined) await failEarly(fault, endpoint.operationId, recorded);
    const { adminKey, defaultProject } = store;
    const access: Access =
      endpoint.auth === "none"
        ? { key: adminKey, projectId: defaultProject.id, namedProjectId: undefined, baseUrl: "" }
        : ((endpoint.handoff === "accepts" ? pageAccess(store, request.headers, call.path) : undefined) ??
          authenticate(store, request.headers));
    if (endpoint.auth !== "none") refuseOutsidePolicy(store, access, endpoint, call.path);
    // As in the service, the session is looked up before the request is validated.
    const session =
      endpoint.plane === "instance" ? runningSession(store, access.projectId, sessionNameIn(call.path)) : undefined;
    return { ...access, keyId: access.key.id, recorded, fault, session };
  }

  #mount(endpoint: Endpoint, name: string): void {
    this.#router.mount(endpoint, (given) => this.#answer(endpoint, name, given));
    this.#mounted.add(endpoint.operationId);
  }

  async #answer(endpoint: Endpoint, name: string, given: HandlerCall<Endpoint, FakeContext>): Promise<undefined> {
    const { handlers, memory } = this.state;
    const { body, params, query } = given;
    const { fault, recorded } = given.context;
    const { call } = recorded;
    call.params = { ...params };
    call.query = { ...query };
    if (endpoint.body?.kind === "json") call.body = body;
    const handler = this.ownHandlers.get(endpoint.operationId) ?? handlers.get(name);
    if (handler === undefined) throw notInFake(endpoint);
    const result: unknown = await repeatable(endpoint, handler, memory)(given);
    // Cutting a result keeps its kind.
    return cutLate(shownWithinPolicy(given.context, endpoint, result), fault, () => {
      recorded.drop();
    }) as undefined;
  }
}

/**
 * Makes a fake service.
 *
 * @example
 * const fake = createFakeShoal();
 * const shoal = new Shoal({ apiKey: fake.apiKey, fetch: fake.fetch });
 */
export function createFakeShoal(): FakeShoal {
  const service = new FakeService();
  const { calls, faults, handle } = service;
  return {
    apiKey: service.state.store.adminKey.secret,
    baseUrl: "http://shoal.test",
    // Pass requests unchanged: copying one would read its body ahead.
    fetch: async (input, init) =>
      answerFetch(handle, input instanceof Request && init === undefined ? input : new Request(input, init)),
    calls,
    failNext(operationId, fault) {
      if (!Object.values<Endpoint>(contract).some((endpoint) => endpoint.operationId === operationId))
        throw new TypeError(`Unknown operation ${operationId}. Use the client's names, for example profiles.get.`);
      faults.add(operationId, fault);
    },
    handle(endpoint, handler) {
      service.setHandler(endpoint, handler as unknown as Handler<Endpoint, FakeContext>);
    },
    addProject(name) {
      const project = newProject(name);
      service.state.store.projects.push(project);
      return project.id;
    },
    addApp(name, actions) {
      service.state.store.apps.set(name, actions);
    },
    addSite(domain, site) {
      service.state.store.sites.set(domain, site);
    },
    completeAction(connectionId) {
      const { store } = service.state;
      const connection = store.connections.find(({ id }) => id === connectionId);
      if (connection === undefined || !new FakeLogins(store).completeAction(connection))
        throw new TypeError(`No login of connection ${connectionId} waits for an action elsewhere.`);
    },
    expireLogin(connectionId) {
      const connection = service.state.store.connections.find(({ id }) => id === connectionId);
      if (connection === undefined) throw new TypeError(`Unknown connection ${connectionId}.`);
      connection.isExpired = true;
    },
    addProviderItem(provider, item) {
      const { providerItems } = service.state.store;
      providerItems.set(provider, [...(providerItems.get(provider) ?? []), item]);
    },
    completeHandoff(idOrName, note) {
      const { store } = service.state;
      const session = store.findSession(undefined, idOrName);
      const end = { status: "released", released_by: "person", note: note ?? null } as const;
      if (session === undefined || endHandoff(store, session, end) === undefined)
        throw new TypeError(`Browser ${idOrName} has no active handoff.`);
    },
    endBrowser(idOrName, reason = "timeout") {
      const session = service.state.store.findSession(undefined, idOrName);
      if (session === undefined || session.ended !== undefined)
        throw new TypeError(`No browser ${idOrName} runs in the fake.`);
      endSession(service.state.store, session, reason);
    },
    reset() {
      service.reset();
    },
    listen: (options) => listen(handle, options),
  };
}

/** Returns `k3f9` for `/browsers/k3f9/fs/read_file?path=%2Fa`. */
function sessionNameIn(path: string): string {
  const text = /^\/browsers\/([^/?]+)/.exec(path)?.[1] ?? "";
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function notInFake({ operationId }: Endpoint): ServiceError {
  return new ServiceError(501, "not_implemented", `The fake of @shoal/testing has no behaviour for ${operationId}.`, {
    hint: "Add behaviour with fake.handle(), or run this test against a real service.",
  });
}
