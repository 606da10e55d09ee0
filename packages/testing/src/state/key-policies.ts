import { contract, type Endpoint, type Page } from "@shoal/contract";
import { outsidePolicy } from "@shoal/contract/refusals";
import { objectOf, type PolicyObject, policyResource, sessionConnections } from "@shoal/contract/rights";
import { ServiceError } from "@shoal/router";
import type { Access } from "./access.ts";
import type { Store } from "./store.ts";

export const fakeOrganizationId = "fake";

/** Names of operations that a policy can allow. */
export const policyOperations: readonly string[] = [
  ...Object.values<Endpoint>(contract)
    .filter(({ auth }) => auth !== "none")
    .map(({ operationId }) => operationId),
  ...Object.keys(sessionConnections),
];

interface NamedRow {
  readonly id: string;
  readonly projectId: string;
  readonly name?: string | null | undefined;
}

type ObjectKind = NonNullable<ReturnType<typeof objectOf>>["kind"];

function objectNamed(store: Store, kind: ObjectKind, projectId: string, idOrName: string): PolicyObject | undefined {
  if (kind === "projects") return { id: idOrName };
  // The fake has no proxies and no vaults.
  const rows: readonly NamedRow[] = { browsers: store.sessions, profiles: store.profiles, proxies: [], vaults: [] }[
    kind
  ];
  const own = rows.filter((row) => row.projectId === projectId);
  return own.find(({ id }) => id === idOrName) ?? own.find(({ name }) => name === idOrName);
}

/** @throws {ServiceError} 403 `insufficient_scope`. The fake does not judge objects that a body names. */
export function refuseOutsidePolicy(store: Store, { key, projectId }: Access, endpoint: Endpoint, path: string): void {
  if (key.policy === undefined) return;
  const place = objectOf(endpoint);
  let object: PolicyObject | undefined;
  if (place?.isNamed === true) {
    const at = endpoint.path.split("/").findIndex((part) => part.startsWith("{"));
    const name = decodeURIComponent(path.split("?", 1)[0]?.split("/")[at] ?? "");
    object = objectNamed(store, place.kind, projectId, name) ?? { id: "" };
  }
  if (key.policy.permit(endpoint, projectId, object) === undefined)
    throw ServiceError.of(outsidePolicy(endpoint.operationId, undefined));
}

/** Removes the items of a list that the policy of the key does not allow. */
export function shownWithinPolicy({ key, projectId }: Access, endpoint: Endpoint, result: unknown): unknown {
  const { policy } = key;
  const isList =
    objectOf(endpoint)?.isNamed === false && Object.values(endpoint.responses).some(({ kind }) => kind === "page");
  if (policy === undefined || !isList) return result;
  const page = result as Page<{ readonly id?: string; readonly session_id?: string }>;
  const items = page.items.filter(
    ({ id = "", session_id = id }) => policy.permit(endpoint, projectId, { id: session_id }) !== undefined,
  );
  return { ...page, items };
}

/** Whether the resource of a statement exists. */
export function policyObjectExists(store: Store, resource: string): boolean {
  const named = policyResource(resource);
  if (named === undefined || "organizationId" in named) return named !== undefined;
  if (store.findProject(named.projectId) === undefined) return false;
  if (!("kind" in named)) return true;
  return objectNamed(store, named.kind, named.projectId, named.id)?.id === named.id;
}
