import { isAtLeast, type Move, neededRole, type Role } from "./data-rights.ts";
import {
  namesOperation,
  type ObjectAction,
  policyAction,
  type PolicyAction,
  type PolicyResource,
  policyResource,
  type PolicyStatement,
  type PolicyStatements,
} from "./policy-actions.ts";

/** The part of an operation that a policy judges. */
export interface JudgedOperation {
  readonly operationId: string;
  readonly path: string;
  /** Absent: only administrators may call it. */
  readonly moves?: readonly Move[];
  /** Absent: no action on objects allows it. */
  readonly scope?: readonly ObjectAction[];
}

/** The object that an operation names in its path. */
export interface PolicyObject {
  readonly id: string;
  /** For a session: the profile that it works with. */
  readonly profileId?: string | null | undefined;
}

/** What a policy allows a request. */
export interface Grant {
  /** The rights to fields of the answer. */
  readonly role: Role;
  /** The statement is about the whole organization. */
  readonly isEverywhere: boolean;
  /** Only actions on objects allow it. */
  readonly isByObject: boolean;
  /** Only actions on objects, or statements about one object, allow it: other objects that the body names need actions too. */
  readonly isNarrow: boolean;
}

/** A part of the objects that a list may show. */
export interface VisibleObjects {
  /** Absent: every object. */
  readonly ids?: readonly string[];
  /** Only sessions without a profile, or with one of these. Absent: with any. */
  readonly profileIds?: readonly string[];
}

interface Known {
  readonly action: PolicyAction;
  readonly resource: PolicyResource;
}
type ObjectKind = "browsers" | "profiles" | "projects" | "proxies" | "vaults";

const places: readonly (readonly [ObjectKind, string])[] = [
  ["browsers", "/browsers"],
  ["browsers", "/render"],
  ["profiles", "/profiles"],
  ["projects", "/org/projects"],
  ["projects", "/projects"],
  ["proxies", "/proxies"],
  ["vaults", "/vaults"],
];

/** Returns the kind of object that the path of an operation is about, and whether it names an object. */
export function objectOf({
  path,
}: Pick<JudgedOperation, "path">): { readonly kind: ObjectKind; readonly isNamed: boolean } | undefined {
  for (const [kind, place] of places) {
    if (path === place) return { kind, isNamed: false };
    if (path.startsWith(`${place}/{id}`) || path.startsWith(`${place}/{id_or_name}`)) return { kind, isNamed: true };
  }
  return undefined;
}

/** The policy of a key. What no statement allows is refused. */
export class KeyPolicy {
  readonly #statements: readonly Known[];
  readonly wire: PolicyStatements;

  /** Ignores statements without a meaning, so they allow nothing. */
  constructor(wire: PolicyStatements) {
    this.wire = wire;
    this.#statements = wire.statements.flatMap((statement) => knownStatement(statement) ?? []);
  }

  /**
   * Whether the policy allows an operation. Without `object`, an operation that lists objects is allowed if it may show
   * some of them, and is refused if its path names an object.
   * @returns `undefined` = refused.
   */
  permit(operation: JudgedOperation, projectId: string, object?: PolicyObject): Grant | undefined {
    const whole = this.#byRoleOrName(operation, projectId, object);
    const isByObject = this.#byObject(operation, projectId, object);
    if (whole === undefined)
      return isByObject ? { role: "operator", isEverywhere: false, isByObject, isNarrow: true } : undefined;
    const role = isByObject && !isAtLeast(whole.role, "operator") ? "operator" : whole.role;
    return { ...whole, role };
  }

  /** Whether the policy allows the operation for some object, those to come included. */
  permitsSome(operation: JudgedOperation, projectId: string): boolean {
    const place = objectOf(operation);
    if (place?.isNamed !== true) return this.permit(operation, projectId) !== undefined;
    const named = this.#idsOf(place.kind, projectId).map((id) => ({ id }));
    return [{ id: "" }, ...named].some((object) => this.permit(operation, projectId, object) !== undefined);
  }

  /** Returns the parts of a list that the policy allows to show; `undefined` = the whole list. */
  visibleIn(operation: JudgedOperation, projectId: string): readonly VisibleObjects[] | undefined {
    const kind = objectOf(operation)?.kind;
    // No profile has this id, so only a right to every profile allows it.
    const anyProfile = kind === "browsers" ? { profileId: "" } : {};
    const shows = (object: PolicyObject): boolean => this.permit(operation, projectId, object) !== undefined;
    if (shows({ id: "", ...anyProfile })) return undefined;
    const named = kind === "projects" ? this.projects() : this.#idsOf(kind, projectId);
    const parts: VisibleObjects[] = [{ ids: named.filter((id) => shows({ id, ...anyProfile })) }];
    if (kind !== "browsers") return parts;
    const profileIds = this.#idsOf("profiles", projectId).filter((id) => this.allows("profiles:use", projectId, id));
    const part = shows({ id: "" }) ? {} : { ids: named.filter((id) => shows({ id })) };
    return [...parts, { ...part, profileIds }];
  }

  #idsOf(kind: ObjectKind | undefined, projectId: string): string[] {
    return this.#statements.flatMap(({ resource }) =>
      "kind" in resource && resource.kind === kind && resource.projectId === projectId ? [resource.id] : [],
    );
  }

  /** Whether a statement is about a project, or about the objects of all projects. */
  knowsProject(projectId: string): boolean {
    return this.#statements.some(({ action, resource }) =>
      "organizationId" in resource
        ? !("object" in action) || action.object !== "organizations:read"
        : resource.projectId === projectId,
    );
  }

  /** Whether an action is allowed on every object of the project, those to come included. */
  allowsAll(action: ObjectAction, projectId: string): boolean {
    return this.#resourcesOf(action).some((resource) => coversProject(resource, projectId));
  }

  /**
   * Whether an action is allowed on one object.
   * @param id - of the object; names are not accepted, because they can move to another object.
   */
  allows(action: ObjectAction, projectId: string, id: string): boolean {
    if (this.allowsAll(action, projectId)) return true;
    return this.#resourcesOf(action).some(
      (resource) => "kind" in resource && resource.projectId === projectId && resource.id === id,
    );
  }

  /** Whether it allows everything that another policy allows. */
  covers(other: PolicyStatements): boolean {
    return other.statements.every((statement) => {
      const known = knownStatement(statement);
      return known === undefined || this.#statements.some((own) => coversStatement(own, known));
    });
  }

  /** The project of all its statements; `undefined` for several, and for statements of the organization. */
  onlyProject(): string | undefined {
    const [first, ...others] = this.projects();
    return others.length > 0 || this.#statements.some(({ resource }) => "organizationId" in resource)
      ? undefined
      : first;
  }

  /** The projects that its statements name. */
  projects(): readonly string[] {
    return [
      ...new Set(this.#statements.flatMap(({ resource }) => ("projectId" in resource ? [resource.projectId] : []))),
    ];
  }

  /** The role in the whole organization, if it has one. */
  roleEverywhere(): Role | undefined {
    return this.#highestRole((resource) => "organizationId" in resource);
  }

  /** The role in a whole project, if it has one. */
  roleIn(projectId: string): Role | undefined {
    return this.#highestRole((resource) => coversProject(resource, projectId));
  }

  #highestRole(isWanted: (resource: PolicyResource) => boolean): Role | undefined {
    let best: Role | undefined;
    for (const { action, resource } of this.#statements)
      if ("role" in action && isWanted(resource) && (best === undefined || isAtLeast(action.role, best)))
        best = action.role;
    return best;
  }

  #byRoleOrName(operation: JudgedOperation, projectId: string, object: PolicyObject | undefined): Grant | undefined {
    const needed = neededRole(operation);
    let best: Grant | undefined;
    let isNarrow = true;
    for (const { action, resource } of this.#statements) {
      if ("object" in action || !reaches(resource, operation, projectId, object)) continue;
      if ("role" in action ? !isAtLeast(action.role, needed) : !namesOperation(action, operation.operationId)) continue;
      // A named operation shows the fields that an operator sees.
      const role = "role" in action ? action.role : "operator";
      const isEverywhere = "organizationId" in resource;
      if (!("kind" in resource)) isNarrow = false;
      if (best === undefined || !isAtLeast(best.role, role)) best = { role, isEverywhere, isByObject: false, isNarrow };
      else if (best.role === role && isEverywhere) best = { ...best, isEverywhere };
    }
    return best && { ...best, isNarrow };
  }

  #byObject(operation: JudgedOperation, projectId: string, object: PolicyObject | undefined): boolean {
    const { scope } = operation;
    if (scope === undefined) return false;
    const place = objectOf(operation);
    if (place?.isNamed === true && object === undefined) return false;
    const isAllowed = scope.every((action) => this.#allowsFor(action, place?.kind, projectId, object));
    if (!isAllowed || place?.kind !== "browsers") return isAllowed;
    return object?.profileId == null || this.allows("profiles:use", projectId, object.profileId);
  }

  #allowsFor(
    action: ObjectAction,
    kind: ObjectKind | undefined,
    projectId: string,
    object: PolicyObject | undefined,
  ): boolean {
    if (action === "organizations:read") return this.#resourcesOf(action).some((one) => "organizationId" in one);
    if (action === "projects:read")
      return object === undefined ? this.#resourcesOf(action).length > 0 : this.allowsAll(action, object.id);
    const [of, verb] = action.split(":");
    if (verb === "create") return this.allowsAll(action, projectId);
    if (of !== kind) return object?.profileId == null || this.allows(action, projectId, object.profileId);
    if (object !== undefined) return this.allows(action, projectId, object.id);
    // A list shows the objects that each are allowed; after `create`, the new object.
    return this.#resourcesOf(action).some(
      (resource) => "organizationId" in resource || resource.projectId === projectId,
    );
  }

  #resourcesOf(action: ObjectAction): PolicyResource[] {
    return this.#statements.flatMap((statement) =>
      "object" in statement.action && statement.action.object === action ? [statement.resource] : [],
    );
  }
}

function knownStatement({ action, resource }: PolicyStatement): Known | undefined {
  const [allowed, place] = [policyAction(action), policyResource(resource)];
  return allowed === undefined || place === undefined ? undefined : { action: allowed, resource: place };
}

function coversProject(resource: PolicyResource, projectId: string): boolean {
  return "organizationId" in resource || (!("kind" in resource) && resource.projectId === projectId);
}

/** Whether a statement about the resource can be about this request. */
function reaches(
  resource: PolicyResource,
  operation: JudgedOperation,
  projectId: string,
  object: PolicyObject | undefined,
): boolean {
  if (!("kind" in resource)) return coversProject(resource, projectId);
  const place = objectOf(operation);
  if (place?.kind !== resource.kind || resource.projectId !== projectId) return false;
  if (object !== undefined) return object.id === resource.id;
  // Of operations that name no object, an object can be in lists only.
  return !place.isNamed && operation.moves?.every((move) => move.startsWith("read ")) === true;
}

function coversStatement(own: Known, other: Known): boolean {
  return coversAction(own.action, other.action) && coversResource(own.resource, other.resource);
}

function coversAction(own: PolicyAction, other: PolicyAction): boolean {
  if ("role" in own) return own.role === "admin" || ("role" in other && isAtLeast(own.role, other.role));
  if ("object" in own) return "object" in other && own.object === other.object;
  if (!("operation" in other)) return false;
  return other.isPrefix
    ? own.isPrefix && `${other.operation}.`.startsWith(`${own.operation}.`)
    : namesOperation(own, other.operation);
}

function coversResource(own: PolicyResource, other: PolicyResource): boolean {
  if ("organizationId" in own) return true;
  if ("organizationId" in other || own.projectId !== other.projectId) return false;
  if (!("kind" in own)) return true;
  return "kind" in other && own.kind === other.kind && own.id === other.id;
}
