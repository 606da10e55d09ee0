import { type Role, roles } from "./data-rights.ts";

/** Actions on objects, as the newest clients of the reference name them. */
export const objectActions = [
  ...actionsOf("browsers", ["create", "use", "write", "delete"]),
  ...actionsOf("profiles", ["create", "read", "use", "write", "delete"]),
  ...actionsOf("vaults", ["create", "read", "use", "write", "delete"]),
  ...actionsOf("proxies", ["create", "read", "use", "write", "delete"]),
  "projects:read",
  "organizations:read",
] as const;
/** One of {@link objectActions}. */
export type ObjectAction = (typeof objectActions)[number];

/** Kinds of resources that a policy can name one by one. */
export const policyKinds = ["browsers", "profiles", "vaults", "proxies"] as const;
/** A kind of resources that a policy can name one by one. */
export type PolicyKind = (typeof policyKinds)[number];

function actionsOf<const Kind extends string, const Verb extends string>(kind: Kind, verbs: readonly Verb[]) {
  return verbs.map((verb): `${Kind}:${Verb}` => `${kind}:${verb}`);
}

/** Wire form of a statement of a policy. */
export interface PolicyStatement {
  readonly action: string;
  readonly resource: string;
}

/** Wire form of a policy. */
export interface PolicyStatements {
  readonly statements: readonly PolicyStatement[];
}

/** The resource of a statement. */
export type PolicyResource =
  | { readonly organizationId: string }
  | { readonly projectId: string }
  | { readonly projectId: string; readonly kind: PolicyKind; readonly id: string };

/** What a statement allows. */
export type PolicyAction =
  | { readonly object: ObjectAction }
  | { readonly role: Role }
  | { readonly operation: string; readonly isPrefix: boolean };

/** `organizations/o1/*`, `projects/p1/*`, `projects/p1/profiles/x1`; `undefined` for other texts. */
export function policyResource(text: string): PolicyResource | undefined {
  const [area, id = "", kind, objectId = "", ...rest] = text.split("/");
  if (!/^[a-z0-9]{1,255}$/.test(id) || rest.length > 0) return undefined;
  if (kind === "*" && objectId === "" && text.endsWith("/*")) {
    if (area === "organizations") return { organizationId: id };
    return area === "projects" ? { projectId: id } : undefined;
  }
  const known = policyKinds.find((one) => one === kind);
  if (area !== "projects" || known === undefined || !/^[a-z0-9]{1,255}$/.test(objectId)) return undefined;
  return { projectId: id, kind: known, id: objectId };
}

/** `browsers:use`, `role:viewer`, `operation:browsers.get`, `operation:browsers.fs.*`; `undefined` for other texts. */
export function policyAction(text: string): PolicyAction | undefined {
  const object = objectActions.find((one) => one === text);
  if (object !== undefined) return { object };
  const role = roles.find((one) => `role:${one}` === text);
  if (role !== undefined) return { role };
  const [, name, star] = /^operation:([A-Za-z]+(?:\.[A-Za-z]+)*?)(\.\*)?$/.exec(text) ?? [];
  return name === undefined ? undefined : { operation: name, isPrefix: star !== undefined };
}

/** Whether an action names the operation. */
export function namesOperation(
  { isPrefix, operation }: Extract<PolicyAction, { operation: string }>,
  name: string,
): boolean {
  return isPrefix ? name.startsWith(`${operation}.`) : name === operation;
}

/** Why a statement has no meaning; `undefined` for a valid one. */
export function statementProblem(
  { action, resource }: PolicyStatement,
  operations: readonly string[],
): { readonly field: "action" | "resource"; readonly problem: string } | undefined {
  const allowed = policyAction(action);
  if (allowed === undefined)
    return {
      field: "action",
      problem: `is unknown; known are ${objectActions.join(", ")}, role:viewer, role:operator, role:admin, and operation:NAME`,
    };
  if ("operation" in allowed && !operations.some((name) => namesOperation(allowed, name)))
    return { field: "action", problem: "names no operation of this service" };
  const found = policyResource(resource);
  if (found === undefined)
    return {
      field: "resource",
      problem:
        "must be organizations/ID/*, projects/ID/*, or projects/ID/KIND/ID of browsers, profiles, vaults or proxies",
    };
  return placeProblem(allowed, found);
}

function placeProblem(
  action: PolicyAction,
  resource: PolicyResource,
): { readonly field: "resource"; readonly problem: string } | undefined {
  if (!("object" in action)) return undefined;
  const [kind, verb] = action.object.split(":");
  if ("kind" in resource && (resource.kind !== kind || verb === "create"))
    return {
      field: "resource",
      problem: `${action.object} needs ${verb === "create" ? "projects/ID/*" : `an object of ${kind ?? ""}`}`,
    };
  if (action.object === "organizations:read" && !("organizationId" in resource))
    return { field: "resource", problem: "organizations:read needs organizations/ID/*" };
  return undefined;
}
