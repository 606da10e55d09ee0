/** Actions that the policy of a key can allow. Every other operation is closed to a key with a policy. */
export const keyActions = [
  ...actionsOf("browsers", ["create", "use", "write", "delete"]),
  ...actionsOf("profiles", ["create", "read", "use", "write", "delete"]),
  ...actionsOf("vaults", ["create", "read", "use", "write", "delete"]),
  ...actionsOf("proxies", ["create", "read", "use", "write", "delete"]),
  "projects:read",
  "organizations:read",
] as const;
export type KeyAction = (typeof keyActions)[number];

/** Kinds of resources that a policy can name one by one. */
export const policyKinds = ["browsers", "profiles", "vaults", "proxies"] as const;
export type PolicyKind = (typeof policyKinds)[number];

function actionsOf<const Kind extends string, const Verb extends string>(kind: Kind, verbs: readonly Verb[]) {
  return verbs.map((verb): `${Kind}:${Verb}` => `${kind}:${verb}`);
}

/** Wire form of a policy. */
export interface PolicyStatements {
  readonly statements: readonly { readonly action: string; readonly resource: string }[];
}

/** The resource of a statement. */
export type PolicyResource =
  | { readonly organizationId: string }
  | { readonly projectId: string }
  | { readonly projectId: string; readonly kind: PolicyKind; readonly id: string };

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

/** Why a statement has no meaning; `undefined` for a valid one. */
export function statementProblem(
  action: string,
  resource: string,
): { field: "action" | "resource"; problem: string } | undefined {
  if (!(keyActions as readonly string[]).includes(action))
    return { field: "action", problem: `is unknown; known actions: ${keyActions.join(", ")}` };
  const found = policyResource(resource);
  if (found === undefined)
    return {
      field: "resource",
      problem:
        "must be organizations/ID/*, projects/ID/*, or projects/ID/KIND/ID of browsers, profiles, vaults or proxies",
    };
  const [kind, verb] = action.split(":");
  if ("kind" in found && (found.kind !== kind || verb === "create"))
    return {
      field: "resource",
      problem: `${action} needs ${verb === "create" ? "projects/ID/*" : `an object of ${kind ?? ""}`}`,
    };
  if (action === "organizations:read" && !("organizationId" in found))
    return { field: "resource", problem: "organizations:read needs organizations/ID/*" };
  return undefined;
}

/** The policy of a key. What no statement allows is refused. */
export class KeyPolicy {
  readonly #statements: readonly { readonly action: string; readonly resource: PolicyResource }[];

  /** Ignores statements without a meaning, so they allow nothing. */
  constructor({ statements }: PolicyStatements) {
    this.#statements = statements.flatMap(({ action, resource }) => {
      const found = statementProblem(action, resource) === undefined ? policyResource(resource) : undefined;
      return found === undefined ? [] : [{ action, resource: found }];
    });
  }

  /** Whether the action is allowed on every object of the project, those to come included. */
  allowsAll(action: KeyAction, projectId: string): boolean {
    return this.#of(action).some(
      (resource) => "organizationId" in resource || (resource.projectId === projectId && !("kind" in resource)),
    );
  }

  /** @param id - of the object; names are not accepted, because they can move to another object. */
  allows(action: KeyAction, projectId: string, id: string): boolean {
    return (
      this.allowsAll(action, projectId) ||
      this.#of(action).some((resource) => "kind" in resource && resource.projectId === projectId && resource.id === id)
    );
  }

  /** Whether it is allowed on some object of the project. */
  allowsSome(action: KeyAction, projectId: string): boolean {
    return this.#of(action).some((resource) => "organizationId" in resource || resource.projectId === projectId);
  }

  #of(action: KeyAction): PolicyResource[] {
    return this.#statements.filter((statement) => statement.action === action).map(({ resource }) => resource);
  }
}
