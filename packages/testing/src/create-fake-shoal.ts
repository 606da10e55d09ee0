import { contract, type Endpoint } from "@shoal/contract";
import { readIdempotencyKey, ServiceError, type Handler, type Handlers } from "@shoal/router";
import { answerFetch } from "@shoal/router/fetch";
import { createHttpRouter } from "@shoal/router/http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { authenticate, type Access } from "./access.ts";
import { apiKeyHandlers } from "./areas/api-keys.ts";
import { browserHandlers, endSession, runningSession } from "./areas/browsers.ts";
import { authContextHandlers } from "./areas/auth-context.ts";
import { profileHandlers } from "./areas/profiles.ts";
import { newProject, projectHandlers } from "./areas/projects.ts";
import { serviceHandlers } from "./areas/service.ts";
import { recordCall, type FakeCall, type RecordedCall } from "./calls.ts";
import { cutLate, failEarly, Faults, type Fault } from "./faults.ts";
import { fileHandlers } from "./files/handlers.ts";
import { IdempotencyMemory } from "./idempotency.ts";
import { listen, type FakeListener, type ListenOptions } from "./listen.ts";
import { Store, type SessionRow } from "./store.ts";

/** The name of an operation, `profiles.get`. */
export type OperationId = (typeof contract)[keyof typeof contract]["operationId"];

/** A Shoal service inside this process, no browser, no network: projects, keys, profiles, sessions and their files; what it does not keep answers 501, or what {@link FakeShoal.handle} says. */
export interface FakeShoal {
  /** A key for the whole organisation. */
  readonly apiKey: string;
  /** An address that nothing listens on; `fetch` answers for it, and for any other. */
  readonly baseUrl: string;
  /** Answers as the service would. Give it to `new Shoal({ fetch })`. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** Every request since the start, or since `reset`, the last 10,000 of them. */
  readonly calls: readonly FakeCall[];
  /**
   * Lets the next call of an operation fail; calls of it that were told to fail before come first.
   *
   * @throws {TypeError} for an operation that there is not.
   */
  failNext(operationId: OperationId, fault: Fault): void;
  /**
   * Answers an operation by a handler of the test's own: one that the fake has no behaviour for, one that is to behave otherwise, or one of an extension.
   * Requests are checked first, and calls recorded, as ever.
   *
   * @example
   * fake.handle(listProxies, () => ({ items: [proxy], hasMore: false, nextOffset: undefined }));
   */
  handle<E extends Endpoint>(endpoint: E, handler: Handler<E, FakeCaller>): void;
  /** Makes a project. @returns its id; a key of its own comes from `apiKeys.create({ project_id })`. */
  addProject(name: string): string;
  /** Ends a running session as the service does by itself. @param reason - the session's `ended_reason`; `timeout` when absent. */
  endBrowser(idOrName: string, reason?: "timeout" | "browser_crashed" | "instance_lost" | "server_stopped"): void;
  /** Forgets everything but `apiKey`: sessions, profiles, other keys, projects, faults, handlers and calls. */
  reset(): void;
  /** Serves the same state on a TCP port, for programs that cannot be given a `fetch`. Close it at the end of the test. */
  listen(options?: ListenOptions): Promise<FakeListener>;
}

/** Who sent a request. */
export interface FakeCaller {
  /** Id of the API key. */
  readonly keyId: string;
  /** The project that the request acts in. */
  readonly projectId: string;
}

const maxCalls = 10_000;

/** What handlers find in `context`. */
interface FakeContext extends Access, FakeCaller {
  readonly recorded: RecordedCall;
  readonly fault: Fault | undefined;
  /** Of operations inside a browser: the session. */
  readonly session: SessionRow | undefined;
}

/** Everything that `reset` forgets. */
interface State {
  readonly store: Store;
  readonly memory: IdempotencyMemory;
  /** By the operation's name in the contract. */
  readonly handlers: ReadonlyMap<string, Handler<Endpoint, FakeContext>>;
}

function createState(apiKey?: string): State {
  const store = new Store(apiKey);
  const handlers = {
    ...apiKeyHandlers(store),
    ...authContextHandlers(),
    ...browserHandlers(store),
    ...profileHandlers(store),
    ...projectHandlers(store),
    ...serviceHandlers(),
    ...fileHandlers<FakeContext>(({ session }) => {
      if (session === undefined) throw new TypeError("An operation on files has no session.");
      return session;
    }),
  } satisfies Partial<Handlers<typeof contract, FakeContext>>;
  // `satisfies` holds each handler to its endpoint.
  const byName = new Map(Object.entries(handlers as unknown as Record<string, Handler<Endpoint, FakeContext>>));
  // The same operations at their old paths.
  for (const [name, handler] of [...byName]) if (`${name}Legacy` in contract) byName.set(`${name}Legacy`, handler);
  return { store, memory: new IdempotencyMemory(), handlers: byName };
}

/** Operations that the fake has behaviour for, by their names, sorted: what its README lists. */
export function operationsInMemory(): OperationId[] {
  const { handlers } = createState();
  return Object.entries(contract)
    .filter(([name]) => handlers.has(name))
    .map(([, { operationId }]) => operationId)
    .sort();
}

/**
 * Makes a fake service for a test.
 *
 * @example
 * const fake = createFakeShoal();
 * const shoal = new Shoal({ apiKey: fake.apiKey, fetch: fake.fetch });
 */
export function createFakeShoal(): FakeShoal {
  let state = createState();
  const apiKey = state.store.adminKey.secret;
  const faults = new Faults();
  const calls: FakeCall[] = [];
  const ownHandlers = new Map<string, Handler<Endpoint, FakeContext>>();
  const records = new WeakMap<IncomingMessage, RecordedCall>();

  async function contextOf(request: IncomingMessage, endpoint: Endpoint): Promise<FakeContext> {
    const { store } = state;
    const recorded = records.get(request);
    if (recorded === undefined) throw new TypeError("A request came past `handle`.");
    const { call } = recorded;
    call.operationId = endpoint.operationId;
    const fault = faults.take(endpoint.operationId);
    if (fault !== undefined) await failEarly(fault, endpoint.operationId, recorded);
    if (endpoint.auth === "none")
      return {
        key: store.adminKey,
        keyId: store.adminKey.id,
        projectId: store.defaultProject.id,
        namedProjectId: undefined,
        baseUrl: "",
        recorded,
        fault,
        session: undefined,
      };
    const access = authenticate(store, request.headers);
    // As the service does: the session is looked for before anything else of the request is checked.
    const session = endpoint.plane === "instance" ? runningSession(store, access.projectId, sessionNameIn(call.path)) : undefined;
    return { ...access, keyId: access.key.id, recorded, fault, session };
  }

  /** What the fake does around the handler of every operation. */
  function around(endpoint: Endpoint, name: string): Handler<Endpoint, FakeContext> {
    const isRepeatable = endpoint.method === "POST" && (endpoint.body === undefined || endpoint.body.kind === "json");
    return async (given) => {
      const { handlers, memory } = state;
      const { body, params, query } = given;
      const { fault, key, recorded, session } = given.context;
      const { call } = recorded;
      call.params = { ...params };
      call.query = { ...query };
      if (endpoint.body?.kind === "json") call.body = body;
      const handler = ownHandlers.get(endpoint.operationId) ?? handlers.get(name);
      if (handler === undefined) throw notInFake(endpoint);
      const idempotencyKey = isRepeatable ? readIdempotencyKey(given.headers["idempotency-key"]) : undefined;
      const result: unknown = await memory.answer(
        idempotencyKey,
        { operationId: endpoint.operationId, scope: session?.id ?? key.id, params, query, body },
        () => handler(given),
      );
      // What is cut is of the kind that was there before.
      return cutLate(result, fault, () => {
        recorded.drop();
      }) as undefined;
    };
  }

  const router = createHttpRouter<FakeContext>({ context: contextOf });
  const mounted = new Set<string>();
  function mount(endpoint: Endpoint, name: string): void {
    router.mount(endpoint, around(endpoint, name));
    mounted.add(endpoint.operationId);
  }
  for (const [name, endpoint] of Object.entries<Endpoint>(contract)) mount(endpoint, name);

  function handle(request: IncomingMessage, response: ServerResponse): void {
    const recorded = recordCall(request, response);
    records.set(request, recorded);
    calls.push(recorded.call);
    if (calls.length > maxCalls) calls.shift();
    router.handle(request, response);
  }

  return {
    apiKey,
    baseUrl: "http://shoal.test",
    // A request is taken as it is: a copy of it would read its body ahead.
    fetch: async (input, init) => answerFetch(handle, input instanceof Request && init === undefined ? input : new Request(input, init)),
    calls,
    failNext(operationId, fault) {
      if (!Object.values<Endpoint>(contract).some((endpoint) => endpoint.operationId === operationId))
        throw new TypeError(`There is no operation ${operationId}. Name one as the client does, profiles.get for instance.`);
      faults.add(operationId, fault);
    },
    handle(endpoint, handler) {
      if (!mounted.has(endpoint.operationId)) mount(endpoint, endpoint.operationId);
      // It is called for this endpoint only.
      ownHandlers.set(endpoint.operationId, handler as unknown as Handler<Endpoint, FakeContext>);
    },
    addProject(name) {
      const project = newProject(name);
      state.store.projects.push(project);
      return project.id;
    },
    endBrowser(idOrName, reason = "timeout") {
      const session = state.store.findSession(undefined, idOrName);
      if (session === undefined || session.ended !== undefined) throw new TypeError(`No browser ${idOrName} runs in the fake.`);
      endSession(session, reason);
    },
    reset() {
      for (const session of state.store.sessions) endSession(session, "server_stopped");
      state = createState(apiKey);
      faults.clear();
      ownHandlers.clear();
      calls.length = 0;
    },
    listen: (options) => listen(handle, options),
  };
}

/** `k3f9` in `/browsers/k3f9/fs/read_file?path=%2Fa`. */
function sessionNameIn(path: string): string {
  const text = /^\/browsers\/([^/?]+)/.exec(path)?.[1] ?? "";
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function notInFake({ operationId }: Endpoint): ServiceError {
  return new ServiceError(
    501,
    "not_implemented",
    `The fake of @shoal/testing has no behaviour for ${operationId}. Give it one with fake.handle(), or run this test against a real service.`,
  );
}
