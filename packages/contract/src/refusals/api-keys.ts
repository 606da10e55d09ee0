import {
  type KeyPolicy,
  policyResource,
  type PolicyStatement,
  type PolicyStatements,
  type Role,
  statementProblem,
} from "../rights/index.ts";
import { invalid, notFound, type Refusal } from "./refusal.ts";

/** 404 for a key that does not exist or was deleted. */
export function apiKeyNotFound(id: string): Refusal {
  return notFound(`API key ${id} was not found, or was deleted.`, "List the keys with apiKeys.list.");
}

/** A project's key cannot create keys for another project. */
export function keyForOtherProject(projectId: string): Refusal {
  return {
    status: 403,
    code: "forbidden",
    problem: `This API key can create keys for its own project only, not for ${projectId}.`,
    hint: "Omit project_id, or use an organisation-wide key.",
  };
}

/** 404 for a new key of a project that does not exist. */
export function keyProjectNotFound(projectId: string): Refusal {
  return {
    status: 404,
    code: "project_not_found",
    problem: `Project ${projectId} was not found.`,
    hint: "Set project_id to the id of a project; list them with projects.list.",
  };
}

/** 400 for a key that deletes itself. */
export function keyDeletesItself(): Refusal {
  return {
    status: 400,
    code: "bad_request",
    problem: "An API key cannot delete itself.",
    hint: "Delete it with another key, or rotate it with expire_in_days 0.",
  };
}

/** The successor of a key would expire before the key. */
export function successorExpiresFirst(days: number, graceDays: number): Refusal {
  return invalid(
    "body.days_to_expire",
    `the new key would live ${String(days)} days, and the old one ${String(graceDays)}`,
    {
      limit: graceDays,
      hint: `Set expire_in_days to ${String(days)} or less, or days_to_expire to ${String(graceDays)} or more.`,
    },
  );
}

const dayMs = 86_400_000;
const maxLifetimeDays = 3650;

/** The end of a new key. */
export interface KeyEnd {
  /** In milliseconds since 1970; `null` = never. */
  readonly endsAtMs: number | null;
  /** For its successors, rounded up; `null` = for ever. */
  readonly lifetimeDays: number | null;
}

/** The end that the caller requests for a new key. */
export interface AskedEnd {
  readonly days_to_expire?: number | null | undefined;
  /** ISO 8601. */
  readonly expires_at?: string | null | undefined;
  /** Lifetime in days if neither is given; `null` or absent = for ever. */
  readonly usualDays?: number | null;
}

/** Returns when a new key expires: as requested, and not after the key that makes it. */
export function endOfKey(asked: AskedEnd, issuerEndsAtMs: number, nowMs: number): KeyEnd | Refusal {
  const { days_to_expire: days = null, expires_at: moment = null, usualDays = null } = asked;
  if (days !== null && moment !== null)
    return invalid("body.expires_at", "cannot be combined with days_to_expire", { hint: "Omit one of them." });
  const afterDays = (count: number | null) => (count === null ? null : nowMs + count * dayMs);
  const askedMs = moment === null ? afterDays(days) : Date.parse(moment);
  const problem = askedMs === null ? undefined : problemOf(askedMs, issuerEndsAtMs, nowMs);
  if (problem !== undefined) return { ...problem, field: moment === null ? "body.days_to_expire" : "body.expires_at" };
  const endsAtMs = Math.min(askedMs ?? afterDays(usualDays) ?? Infinity, issuerEndsAtMs);
  if (endsAtMs === Infinity) return { endsAtMs: null, lifetimeDays: null };
  return { endsAtMs, lifetimeDays: days ?? usualDays ?? Math.ceil((endsAtMs - nowMs) / dayMs) };
}

function problemOf(endsAtMs: number, issuerEndsAtMs: number, nowMs: number): Refusal | undefined {
  if (endsAtMs <= nowMs)
    return invalid("", `${new Date(endsAtMs).toISOString()} is in the past`, { hint: "Set a later moment." });
  if (endsAtMs > nowMs + maxLifetimeDays * dayMs)
    return invalid("", `the key would live more than ${String(maxLifetimeDays)} days`, {
      limit: maxLifetimeDays,
      hint: "Set an earlier moment, or omit it for a key that never expires.",
    });
  if (endsAtMs <= issuerEndsAtMs) return undefined;
  const end = new Date(issuerEndsAtMs).toISOString();
  return invalid("", `the new key would outlive the calling key, which expires at ${end}`, {
    hint: "Set an earlier end, or use a key that lives longer.",
  });
}

/** The limits that a caller requests for a new key. */
export interface AskedPolicy {
  readonly policy?: PolicyStatements | null | undefined;
  readonly role?: Role | null | undefined;
  readonly operations?: readonly string[] | null | undefined;
  readonly browser_ids?: readonly string[] | null | undefined;
}

/** Where a new key belongs. */
export interface PolicyPlace {
  readonly organizationId: string;
  /** The project of the key; `null` = all projects. */
  readonly projectId: string | null;
  /** The project of the request, to which `browser_ids` belong. */
  readonly requestProjectId: string;
  /** Names of operations that a statement can have. */
  readonly operations: readonly string[];
  /** Of the calling key; `undefined` = it has every right. */
  readonly callerPolicy: KeyPolicy | undefined;
}

/** Returns the policy of a new key; `null` = every right. Objects are not looked up. */
export function policyOfKey(asked: AskedPolicy, place: PolicyPlace): PolicyStatements | null | Refusal {
  const short = shortStatements(asked, place);
  if (short !== undefined && asked.policy != null)
    return invalid("body.policy", "cannot be combined with role, operations and browser_ids", {
      hint: "Write them as statements of the policy, or omit the policy.",
    });
  const statements = asked.policy?.statements ?? short;
  for (const [index, statement] of (statements ?? []).entries()) {
    const problem = statementProblem(statement, place.operations) ?? outside(statement, place);
    if (problem !== undefined) return invalid(fieldOf(asked, index, problem.field), problem.problem);
  }
  const policy = statements === undefined ? null : { statements };
  return widerThan(place.callerPolicy, policy) ? widerKey() : policy;
}

/** Whether a key has rights that its caller has not. */
export function widerThan(caller: KeyPolicy | undefined, policy: PolicyStatements | null): boolean {
  return caller !== undefined && (policy === null || !caller.covers(policy));
}

/** 403 for a key that would have more rights than the calling key. */
export function widerKey(): Refusal {
  return {
    status: 403,
    code: "insufficient_scope",
    problem: "The new key would have rights that the calling key does not have.",
    hint: "Request a role or a policy within that of the calling key; auth.context.get shows it.",
  };
}

/** 403 for a request that the policy of the key does not allow. */
export function outsidePolicy(operationId: string, what: string | undefined): Refusal {
  return {
    status: 403,
    code: "insufficient_scope",
    problem: `The policy of this API key does not allow ${operationId}${what === undefined ? "" : ` with ${what}`}.`,
    hint: "Use another key, or create one with apiKeys.create whose policy allows it.",
  };
}

/** 400 for an object that a policy names and that does not exist. */
export function policyObjectMissing(asked: AskedPolicy, statement: PolicyStatement, index: number): Refusal {
  return invalid(fieldOf(asked, index, "resource"), `${statement.resource} was not found`, {
    hint: "Take ids from the list operations; names are not accepted.",
  });
}

/** The field that the caller sent: `role`, `operations` and `browser_ids` are short forms of statements. */
function fieldOf(asked: AskedPolicy, index: number, part: "action" | "resource"): string {
  const { browser_ids, operations, policy } = asked;
  if (policy != null) return `body.policy.statements[${String(index)}].${part}`;
  const actions = shortActions(asked).length;
  if (part === "resource" && browser_ids != null) return `body.browser_ids[${String(Math.floor(index / actions))}]`;
  const action = index % actions;
  return action < (operations?.length ?? 0) ? `body.operations[${String(action)}]` : "body.role";
}

function shortActions({ operations, role }: AskedPolicy): string[] {
  const named = (operations ?? []).map((name) => `operation:${name}`);
  const ownRole = operations == null ? (role ?? "operator") : role;
  return [...named, ...(ownRole == null ? [] : [`role:${ownRole}`])];
}

/** All actions with the first resource, then all with the next. */
function shortStatements(
  asked: AskedPolicy,
  { organizationId, projectId, requestProjectId }: PolicyPlace,
): PolicyStatement[] | undefined {
  const { browser_ids, operations, role } = asked;
  if (role == null && operations == null && browser_ids == null) return undefined;
  const actions = shortActions(asked);
  const resources = browser_ids?.map((id) => `projects/${projectId ?? requestProjectId}/browsers/${id}`) ?? [
    projectId === null ? `organizations/${organizationId}/*` : `projects/${projectId}/*`,
  ];
  return resources.flatMap((resource) => actions.map((action) => ({ action, resource })));
}

function outside(
  { resource }: PolicyStatement,
  { organizationId, projectId }: PolicyPlace,
): { readonly field: "resource"; readonly problem: string } | undefined {
  const found = policyResource(resource);
  if (found === undefined) return undefined;
  if ("organizationId" in found) {
    if (projectId !== null) return { field: "resource", problem: `must be inside of the key's project ${projectId}` };
    return found.organizationId === organizationId
      ? undefined
      : { field: "resource", problem: `is another organization than ${organizationId}` };
  }
  return projectId === null || found.projectId === projectId
    ? undefined
    : { field: "resource", problem: `must be inside of the key's project ${projectId}` };
}
