import { contract, type Endpoint, type Page } from "@shoal/contract";
import { outsidePolicy } from "@shoal/contract/refusals";
import {
  connectionOperation,
  type JudgedOperation,
  type Grant,
  type KeyPolicy,
  type ObjectAction,
  objectOf,
  type PolicyKind,
  type PolicyObject,
  policyResource,
  sessionConnections,
} from "@shoal/contract/rights";
import type { Database, Tables } from "@shoal/database";
import { type Handler, type HandlerCall, ServiceError } from "@shoal/router";
import type { ExpressionBuilder } from "kysely";
import { isStorable } from "../paging.ts";
import type { Access, KeyRow } from "./access.ts";

type Params = Record<string, string | undefined>;

/** Names of operations that a policy can allow. */
export const operationNames: readonly string[] = [
  ...Object.values<Endpoint>(contract)
    .filter(({ auth }) => auth !== "none")
    .map(({ operationId }) => operationId),
  ...Object.keys(sessionConnections),
];

/** Applies the policies of keys to requests. */
export class KeyScopes {
  readonly objects: PolicyObjects;

  constructor(objects: PolicyObjects) {
    this.objects = objects;
  }

  /**
   * Returns the caller with its rights to this operation. Replaces names in `params` by ids, so that
   * the operation works with the object that was checked.
   * @throws {ServiceError} 403 `insufficient_scope`.
   */
  admit(access: Access, operation: JudgedOperation, params: Params): Access | Promise<Access> {
    return access.key.policy === undefined ? access : this.#admit(access, operation, params);
  }

  async #admit(access: Access, operation: JudgedOperation, params: Params): Promise<Access> {
    const { key, projectId } = access;
    const place = objectOf(operation);
    let object: PolicyObject | undefined;
    if (place?.isNamed === true) {
      const param = "id_or_name" in params ? "id_or_name" : "id";
      const named = params[param] ?? "";
      object = await this.objects.find(place.kind, projectId, named);
      // The operation answers 404 to a caller that may see every object.
      object ??= { id: "" };
      if (object.id !== "") params[param] = object.id;
    }
    const grant = key.policy?.permit(operation, projectId, object);
    if (grant === undefined) throw ServiceError.of(outsidePolicy(operation.operationId, undefined));
    const isList = place?.isNamed === false;
    return new ScopedAccess(access, grant, isList ? key.policy?.visibleIn(operation, projectId) : undefined);
  }

  /**
   * For an address with a token that was issued to the key.
   * @throws {ServiceError} 403 `insufficient_scope`.
   */
  async requireSession(
    { policy }: Pick<KeyRow, "policy">,
    operation: JudgedOperation,
    sessionId: string,
  ): Promise<void> {
    if (policy === undefined) return;
    const session = await this.objects.session(sessionId);
    if (session !== undefined && policy.permit(operation, session.projectId, session) !== undefined) return;
    throw ServiceError.of(outsidePolicy(operation.operationId, undefined));
  }

  /**
   * For a stored value in a session. A role in this session alone includes no credential of the project.
   * @throws {ServiceError} 403 `insufficient_scope`.
   */
  async requireUseOfSecrets({ policy }: Pick<KeyRow, "policy">, sessionId: string): Promise<void> {
    if (policy === undefined) return;
    const use = connectionOperation("credentials.use");
    const session = await this.objects.session(sessionId);
    const grant = session && policy.permit(use, session.projectId, session);
    if (grant === undefined || (grant.isNarrow && grant.role === "admin"))
      throw ServiceError.of(outsidePolicy(use.operationId, undefined));
  }
}

/** A caller whose policy limits it: it counts as a key of this project, unless the policy is about the organization. */
class ScopedAccess implements Access {
  readonly key: KeyRow;
  readonly role: Access["role"];
  readonly grant: Grant;
  readonly visible: Access["visible"];
  readonly projectId: string;
  readonly namedProjectId: string | undefined;
  readonly strategy: Access["strategy"];
  readonly #access: Access;

  constructor(access: Access, grant: Grant, visible: Access["visible"]) {
    const { key, namedProjectId, projectId, strategy } = access;
    this.#access = access;
    this.grant = grant;
    this.visible = visible;
    this.role = grant.role;
    this.key = grant.isEverywhere || grant.isByObject ? key : { ...key, project_id: projectId };
    this.projectId = projectId;
    this.namedProjectId = namedProjectId;
    this.strategy = strategy;
  }

  get baseUrl(): string {
    return this.#access.baseUrl;
  }

  get viewerUrl(): string | undefined {
    return this.#access.viewerUrl;
  }
}

/** Looks up the objects that policies and requests name. */
export class PolicyObjects {
  readonly #query: Database["query"];

  constructor({ query }: Pick<Database, "query">) {
    this.#query = query;
  }

  async find(kind: PolicyKind | "projects", projectId: string, idOrName: string): Promise<PolicyObject | undefined> {
    if (!isStorable(idOrName)) return undefined;
    if (kind === "projects") return { id: idOrName };
    if (kind === "browsers") {
      const found = await this.#sessions().where("project_id", "=", projectId).where(isCalled(idOrName)).execute();
      const row = found.find(({ id }) => id === idOrName) ?? found[0];
      return row && { id: row.id, profileId: row.profile_id };
    }
    const rows = await this.#query
      .selectFrom(kind)
      .select("id")
      .where("project_id", "=", projectId)
      .where((where) => where.or([where("id", "=", idOrName), where("name", "=", idOrName)]))
      .limit(2)
      .execute();
    // A name of two proxies names none.
    return rows.find(({ id }) => id === idOrName) ?? (rows.length === 1 ? rows[0] : undefined);
  }

  async session(id: string): Promise<(PolicyObject & { readonly projectId: string }) | undefined> {
    const row = isStorable(id) ? await this.#sessions().where("id", "=", id).executeTakeFirst() : undefined;
    return row && { id, profileId: row.profile_id, projectId: row.project_id };
  }

  #sessions() {
    return this.#query.selectFrom("sessions").select(["id", "project_id", "profile_id"]);
  }

  /** Whether the resource of a statement exists. */
  async exists(resource: string): Promise<boolean> {
    const named = policyResource(resource);
    if (named === undefined || "organizationId" in named) return named !== undefined;
    const project = await this.#query
      .selectFrom("projects")
      .select("id")
      .where("id", "=", named.projectId)
      .where("deleted_at", "is", null)
      .executeTakeFirst();
    if (project === undefined || !("kind" in named)) return project !== undefined;
    return (await this.find(named.kind, named.projectId, named.id))?.id === named.id;
  }
}

/** By id, or a running session by name. */
const isCalled = (idOrName: string) => (where: ExpressionBuilder<Tables, "sessions">) =>
  where.or([where("id", "=", idOrName), where.and([where("name", "=", idOrName), where("ended_at", "is", null)])]);

/** Settings of sessions that name no other object. A setting that is not listed is refused. */
export const plainSettings: ReadonlySet<string> = new Set([
  "chrome_policy",
  "conditions",
  "connect_timeout_seconds",
  "disable_default_proxy",
  "disconnect_timeout_seconds",
  "forkable",
  "gpu",
  "headless",
  "isolation",
  "kiosk_mode",
  "location",
  "max_duration_seconds",
  "memory",
  "name",
  "region",
  "sleep_after_seconds",
  "start_url",
  "stealth",
  "tags",
  "timeout_seconds",
  "viewport",
  "web_bot_auth",
]);

interface Judged {
  readonly policy: KeyPolicy;
  readonly projectId: string;
  readonly operationId: string;
  readonly objects: PolicyObjects;
}

/**
 * Applies policies of keys where the path of an operation is not enough: to objects that a body names, and to lists, which
 * show only permitted objects.
 */
export function withinPolicies(
  endpoint: Endpoint,
  handler: Handler<Endpoint, Access>,
  objects: PolicyObjects,
): Handler<Endpoint, Access> {
  const place = objectOf(endpoint);
  const isList = place?.isNamed === false && Object.values(endpoint.responses).some(({ kind }) => kind === "page");
  const isSession = endpoint === contract.createBrowser || endpoint === contract.updateBrowser;
  const isRendering = endpoint === contract.renderPage;
  const isForking = endpoint === contract.forkBrowser || endpoint === contract.snapshotBrowser;
  if (!isList && !isSession && !isRendering && !isForking) return handler;
  return async (call: HandlerCall<Endpoint, Access>) => {
    const { grant, key, projectId } = call.context;
    const { policy } = key;
    if (policy === undefined) return handler(call) as undefined;
    const judged: Judged = { policy, projectId, operationId: endpoint.operationId, objects };
    if (isSession && grant?.isNarrow !== false) await requireSettings(judged, call.body as unknown as SessionSettings);
    // A role in the original session alone does not include further sessions.
    if (isForking && policy.permit(contract.createBrowser, projectId) === undefined)
      throw refused(judged, "the new sessions");
    if (isRendering && grant?.isNarrow !== false) await requireNamed(judged, call.body as unknown as SessionSettings);
    const answer = (await handler(call)) as unknown;
    if (!isList) return answer as undefined;
    const page = answer as Page<ListedObject>;
    const items = page.items.filter((item) => {
      const { id = "", profile, session_id = id } = item;
      return policy.permit(endpoint, projectId, { id: session_id, profileId: profile?.id }) !== undefined;
    });
    return { ...page, items };
  };
}

/**
 * For a connection that creates its session.
 * @returns the settings, with ids instead of names of objects.
 * @throws {ServiceError} 403 `insufficient_scope` unless the policy allows to create it and to connect to every session.
 */
export async function requireNewSession<Settings extends object>(
  { key: { policy }, projectId }: Pick<Access, "key" | "projectId">,
  settings: Settings,
  objects: KeyScopes["objects"],
): Promise<Settings> {
  if (policy === undefined) return settings;
  const { operationId } = contract.createBrowser;
  const connect = connectionOperation("browsers.cdp.connect");
  const grant = policy.permit(contract.createBrowser, projectId);
  if (grant === undefined) throw ServiceError.of(outsidePolicy(operationId, undefined));
  if (policy.permit(connect, projectId, { id: "" }) === undefined)
    throw ServiceError.of(outsidePolicy(connect.operationId, "a new session"));
  const checked = { ...settings };
  if (grant.isNarrow) await requireSettings({ policy, projectId, operationId, objects }, checked);
  return checked;
}

interface ListedObject {
  readonly id?: string;
  readonly session_id?: string;
  readonly profile?: { readonly id: string };
}

interface NamedObject {
  readonly id?: string;
  readonly name?: string;
}

interface NamedRoute {
  readonly proxy: { readonly id?: string; readonly name?: string };
}

interface SessionSettings {
  profile?: { readonly id?: string; readonly name?: string; readonly save_changes?: boolean };
  proxy?: { readonly id?: string; readonly name?: string };
  proxy_id?: string | null;
  vaults?: readonly NamedObject[];
  network?: { readonly proxy_routes?: readonly NamedRoute[] };
  readonly recording?: { readonly video?: boolean | undefined };
  readonly telemetry?: { readonly export?: unknown } | null;
}

/**
 * Replaces names by the ids that were checked, because a name can move to another object.
 * @throws {ServiceError} 403 `insufficient_scope` for an object or a setting that the policy does not allow.
 */
async function requireSettings(judged: Judged, settings: SessionSettings): Promise<void> {
  const { network, profile, proxy, proxy_id, recording = {}, telemetry, vaults, ...others } = settings;
  for (const [name, value] of Object.entries(others))
    if (value !== undefined && value !== null && value !== "" && !plainSettings.has(name))
      throw refused(judged, `body.${name}`);
  // Of the network: a recording is another object of the project.
  const { video: _video, ...recorded } = recording;
  if (Object.keys(recorded).length > 0) throw refused(judged, "body.recording");
  if (telemetry?.export !== undefined) throw refused(judged, "body.telemetry.export");
  if (profile !== undefined) {
    const { name, ...kept } = profile;
    const idOrName = profile.id ?? name;
    const id = await requireObject(
      judged,
      profile.save_changes === true ? ["profiles:use", "profiles:write"] : ["profiles:use"],
      { field: "body.profile", idOrName },
    );
    settings.profile = { ...kept, id };
  }
  if (vaults !== undefined)
    settings.vaults = await Promise.all(
      vaults.map(async ({ id, name }, index) => {
        const named = { field: `body.vaults[${String(index)}]`, idOrName: id ?? name };
        return { id: await requireObject(judged, ["vaults:use"], named) };
      }),
    );
  const routes: NamedRoute[] = [];
  for (const [index, route] of (network?.proxy_routes ?? []).entries()) {
    const named = {
      field: `body.network.proxy_routes[${String(index)}].proxy`,
      idOrName: route.proxy.id ?? route.proxy.name,
    };
    routes.push({ ...route, proxy: { id: await requireObject(judged, ["proxies:use"], named) } });
  }
  if (routes.length > 0) settings.network = { ...network, proxy_routes: routes };
  const proxyName = proxy?.id ?? proxy?.name ?? proxy_id;
  if (proxyName === undefined || proxyName === null || proxyName === "") return;
  const field = proxy === undefined ? "body.proxy_id" : "body.proxy";
  const id = await requireObject(judged, ["proxies:use"], { field, idOrName: proxyName });
  if (proxy === undefined) settings.proxy_id = id;
  else settings.proxy = { id };
}

/** The same for a body whose other fields are about a page. */
async function requireNamed(judged: Judged, body: SessionSettings): Promise<void> {
  const named: SessionSettings = {
    ...(body.profile && { profile: body.profile }),
    ...(body.proxy && { proxy: body.proxy }),
  };
  await requireSettings(judged, named);
  Object.assign(body, named);
}

async function requireObject(
  judged: Judged,
  actions: readonly ObjectAction[],
  { field, idOrName = "" }: { readonly field: string; readonly idOrName: string | undefined },
): Promise<string> {
  const { objects, policy, projectId } = judged;
  const kind = (["profiles", "vaults"] as const).find((one) => actions[0]?.startsWith(`${one}:`)) ?? "proxies";
  const id = (await objects.find(kind, projectId, idOrName))?.id ?? "";
  if (!actions.every((action) => policy.allows(action, projectId, id))) throw refused(judged, field);
  return id;
}

function refused({ operationId }: Judged, what: string): ServiceError {
  return ServiceError.of(outsidePolicy(operationId, what));
}
