import { ServiceError } from "@shoal/router";

/** What a caller learns of a violated constraint. */
interface ConstraintAnswer {
  readonly status: 404 | 409;
  readonly code: string;
  /** @param value - the value that violated it, as the database says it. */
  readonly message: (value: string) => string;
}

/** A constraint that no request can violate, and why. */
interface NeverViolated {
  readonly because: string;
}

function gone(resource: string, list: string): ConstraintAnswer {
  return {
    status: 404,
    code: "not_found",
    message: (id) => `${resource} ${id} was deleted while the request ran. List those that exist with ${list}.`,
  };
}

function nameTaken(resource: string): ConstraintAnswer {
  return {
    status: 409,
    code: "name_taken",
    message: (name) => `A ${resource} named ${JSON.stringify(name)} exists already. Choose another name, or use that one.`,
  };
}

const projectGone: ConstraintAnswer = {
  status: 404,
  code: "project_not_found",
  message: (id) => `Project ${id} was deleted while the request ran. List those that exist with projects.list.`,
};
const randomKey: NeverViolated = { because: "the key is random" };
const ownKey: NeverViolated = { because: "the service inserts with on conflict, or under a lock" };

/** Every foreign key and unique index of the database, by its name. A test compares it with the database. */
export const constraintAnswers: Readonly<Record<string, ConstraintAnswer | NeverViolated>> = {
  api_key_uses_key_id_fkey: { because: "keys are marked as deleted, and their rows stay" },
  api_key_uses_pkey: ownKey,
  api_keys_key_hash_key: randomKey,
  api_keys_pkey: randomKey,
  api_keys_project_id_fkey: projectGone,
  audit_chain_pkey: ownKey,
  audit_export_destinations_pkey: randomKey,
  audit_export_destinations_place: {
    status: 409,
    code: "conflict",
    message: (place) => `An export destination with this bucket and prefix exists already (${place}). Choose another prefix.`,
  },
  audit_logs_pkey: ownKey,
  browser_pool_waiters_pkey: randomKey,
  browser_pool_waiters_pool_id_fkey: gone("Browser pool", "browserPools.list"),
  browser_pools_pkey: randomKey,
  browser_pools_project_id_fkey: projectGone,
  browser_pools_project_id_name_key: nameTaken("browser pool"),
  browser_pools_telemetry_destination_id_fkey: gone("Telemetry destination", "telemetryDestinations.list"),
  extensions_pkey: randomKey,
  extensions_project_id_fkey: projectGone,
  extensions_project_id_name_key: nameTaken("extension"),
  idempotency_keys_pkey: ownKey,
  jobs_pkey: ownKey,
  organization_is_only_key: ownKey,
  organization_pkey: ownKey,
  profile_versions_pkey: ownKey,
  profile_versions_profile_id_fkey: gone("Profile", "profiles.list"),
  profiles_pkey: randomKey,
  profiles_project_id_fkey: projectGone,
  profiles_project_id_name_key: nameTaken("profile"),
  projects_one_default: {
    status: 409,
    code: "conflict",
    message: () => "Another request changed the default project at the same time. Repeat the request.",
  },
  projects_pkey: randomKey,
  projects_present_name: nameTaken("project"),
  proxies_pkey: randomKey,
  proxies_project_id_fkey: projectGone,
  rate_limit_uses_pkey: ownKey,
  replica_secret_pkey: ownKey,
  servers_pkey: ownKey,
  sessions_active_name: nameTaken("browser"),
  sessions_pkey: randomKey,
  sessions_profile_id_fkey: gone("Profile", "profiles.list"),
  sessions_profile_writer: {
    status: 409,
    code: "profile_in_use",
    message: (id) => `Another session saves its changes to profile ${id}, and only one session may write to it at a time. Wait until it ends.`,
  },
  sessions_project_id_fkey: projectGone,
  sessions_telemetry_destination_id_fkey: gone("Telemetry destination", "telemetryDestinations.list"),
  shoal_migrations_pkey: ownKey,
  telemetry_destinations_pkey: randomKey,
  telemetry_destinations_project_id_fkey: projectGone,
  telemetry_destinations_project_id_name_key: nameTaken("telemetry destination"),
};

const violations: ReadonlySet<unknown> = new Set(["23503", "23505"]);

/** Turns a violated foreign key or unique index into 404 or 409; any other error stays as it is. */
export function explainConstraint(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || !violations.has(error.code) || !("constraint" in error)) return error;
  const answer = constraintAnswers[String(error.constraint)];
  if (answer === undefined || "because" in answer) return error;
  const value = "detail" in error && typeof error.detail === "string" ? violatingValue(error.detail) : "";
  return new ServiceError(answer.status, answer.code, answer.message(value), { cause: error });
}

/** The last value of `Key (project_id, name)=(p1, shop) already exists.`; project ids have no comma. */
function violatingValue(detail: string): string {
  const values = /=\((.*)\)/s.exec(detail)?.[1] ?? "";
  return /^[^,]*, (.*)$/s.exec(values)?.[1] ?? values;
}
