import { contract, type Endpoint } from "@shoal/contract";
import { outsidePolicy } from "@shoal/contract/refusals";
import { KeyPolicy, type PolicyStatements } from "@shoal/contract/rights";
import { type Handler, IdempotencyMemory, ServiceError } from "@shoal/router";
import { HttpRouter } from "@shoal/router/http";
import type { Browser, ErrorBody } from "@shoal/schemas";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { FakeCaller } from "./caller.ts";
import { type DirectRequest, directRequest } from "./direct-path.ts";
import { closeServer } from "./close-server.ts";
import type { FakeService } from "../service/fake-service.ts";

/** Policies know no others. */
const operations: ReadonlySet<string> = new Set(
  Object.values<Endpoint>(contract).map(({ operationId }) => operationId),
);
const passedHeaders = ["authorization", "x-shoal-project", "x-kernel-project-id", "x-kernel-project"];

/** Answers the operations that the test defines. The service decides whether the caller may come in. */
export class OwnOperations {
  readonly #service: () => FakeService;
  readonly #handlers = new Map<string, Handler<Endpoint, FakeCaller>>();
  readonly #direct = new WeakMap<IncomingMessage, DirectRequest>();
  readonly #mounted = new Map<string, Endpoint>();
  #router = this.#createRouter();
  readonly #server: Server = createServer((request, response) => {
    const direct = directRequest(request.url ?? "/");
    if (direct !== undefined) {
      this.#direct.set(request, direct);
      request.url = direct.url;
    }
    this.#router.handle(request, response);
  });

  /** @param service - the present one. */
  constructor(service: () => FakeService) {
    this.#service = service;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${String(port)}`;
  }

  async start(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
  }

  /** Operations outside of the contract. */
  extensions(): Endpoint[] {
    return [...this.#mounted.values()].filter(({ operationId }) => !operations.has(operationId));
  }

  set(endpoint: Endpoint, handler: Handler<Endpoint, FakeCaller>): void {
    const { operationId } = endpoint;
    this.#handlers.set(operationId, handler);
    if (this.#mounted.has(operationId)) return;
    this.#mounted.set(operationId, endpoint);
    this.#mount(this.#router, endpoint);
  }

  /** An operation of an extension answers 501 after {@link clear}. */
  answers({ operationId }: Endpoint): boolean {
    return this.#handlers.has(operationId) || this.extensions().some((one) => one.operationId === operationId);
  }

  /** Forgets also the answers that repeated requests get. */
  clear(): void {
    this.#handlers.clear();
    this.#router = this.#createRouter();
    for (const endpoint of this.#mounted.values()) this.#mount(this.#router, endpoint);
  }

  close(): Promise<void> {
    return closeServer(this.#server);
  }

  #createRouter(): HttpRouter<FakeCaller> {
    return new HttpRouter<FakeCaller>({
      context: (request, endpoint) => this.#callerOf(request, endpoint),
      idempotency: new IdempotencyMemory<FakeCaller>({ scopeOf: ({ keyId }) => keyId }),
    });
  }

  #mount(router: HttpRouter<FakeCaller>, endpoint: Endpoint): void {
    router.mount(endpoint, (call) => {
      const present = this.#handlers.get(endpoint.operationId);
      if (present === undefined) throw notDefined(endpoint);
      // oxlint-disable-next-line typescript/no-unsafe-return -- the type ties it to its endpoint
      return present(call);
    });
  }

  async #callerOf(request: IncomingMessage, endpoint: Endpoint): Promise<FakeCaller> {
    if (endpoint.auth === "none") return { keyId: "", projectId: await this.#defaultProject() };
    const direct = this.#direct.get(request);
    if (direct !== undefined) return this.#callerOfDirect(request, direct);
    const { authorization, principal } = (await this.#ask(request, contract.getAuthContext.path)) as {
      authorization: { effective_scope: { project_id: string | null }; policy?: PolicyStatements };
      principal: { id: string };
    };
    // As in the service, the session is looked up before the request is validated.
    const session = endpoint.plane === "instance" ? /^\/browsers\/[^/?]+/.exec(request.url ?? "")?.[0] : undefined;
    const browser = session === undefined ? undefined : ((await this.#ask(request, session)) as Browser | undefined);
    const projectId = authorization.effective_scope.project_id ?? (await this.#defaultProject());
    if (authorization.policy !== undefined && operations.has(endpoint.operationId))
      refuseOutside(new KeyPolicy(authorization.policy), { browser, endpoint, projectId });
    return { keyId: principal.id, projectId };
  }

  /** The service checks the token. */
  async #callerOfDirect(request: IncomingMessage, { sessionId, token }: DirectRequest): Promise<FakeCaller> {
    await this.#ask(request, `/sessions/${sessionId}/fs/list_files?path=%2F&jwt=${token}`);
    const { project_id: projectId } = await this.#service()
      .database.query.selectFrom("sessions")
      .select("project_id")
      .where("id", "=", sessionId)
      .executeTakeFirstOrThrow();
    const payload = Buffer.from(token.split(".")[1] ?? "", "base64url").toString();
    return { keyId: (JSON.parse(payload) as { readonly key: string }).key, projectId };
  }

  async #defaultProject(): Promise<string> {
    const { query } = this.#service().database;
    return (await query.selectFrom("projects").select("id").where("is_default", "=", true).executeTakeFirstOrThrow())
      .id;
  }

  /** @throws {ServiceError} as the service answers. */
  async #ask({ headers }: IncomingMessage, path: string): Promise<unknown> {
    const passed = passedHeaders.flatMap((name) => {
      const value = headers[name];
      return typeof value === "string" ? [[name, value] as const] : [];
    });
    const answer = await fetch(this.#service().baseUrl + path, { headers: Object.fromEntries(passed) });
    if (answer.ok) return answer.json();
    const { code, hint, message } = (await answer.json()) as ErrorBody;
    // The service has accepted the key. The policy is about the operation that was asked here, not about the test's one.
    if (code === "insufficient_scope") return undefined;
    throw new ServiceError(answer.status, code, message, { hint });
  }
}

interface Judged {
  /** `undefined` = none, or the key may not read it. */
  readonly browser: Browser | undefined;
  readonly endpoint: Endpoint;
  readonly projectId: string;
}

/** @throws {ServiceError} 403, as the service. */
function refuseOutside(policy: KeyPolicy, { browser, endpoint, projectId }: Judged): void {
  const isPermitted =
    browser === undefined
      ? policy.permitsSome(endpoint, projectId)
      : policy.permit(endpoint, projectId, { id: browser.session_id, profileId: browser.profile?.id ?? null }) !==
        undefined;
  if (!isPermitted) throw ServiceError.of(outsidePolicy(endpoint.operationId, undefined));
}

function notDefined({ operationId }: Endpoint): ServiceError {
  return new ServiceError(501, "not_implemented", `The fake of @shoal/testing has no behaviour for ${operationId}.`, {
    hint: "Add behaviour with fake.handle(), or run this test against a real service.",
  });
}
