import { ServiceError } from "@shoal/router";

interface ConstraintAnswer {
  readonly status: 404 | 409;
  readonly code: string;
  /** @param value - the violating value, as reported by the database. */
  readonly message: (value: string) => string;
}

/** A constraint that no request can violate, with the reason. */
interface NeverViolated {
  readonly because: string;
}

function gone(resource: string, list: string): ConstraintAnswer {
  return {
    status: 404,
    code: "not_found",
    message: (id) => `${resource} ${id} was deleted during the request. List existing ones with ${list}.`,
  };
}

function nameTaken(resource: string): ConstraintAnswer {
  return {
    status: 409,
    code: "name_taken",
    message: (name) =>
      `A ${resource} named ${JSON.stringify(name)} already exists. Choose another name, or use that one.`,
  };
}

const projectGone: ConstraintAnswer = {
  status: 404,
  code: "project_not_found",
  message: (id) => `Project ${id} was deleted during the request. List projects with projects.list.`,
};
const randomKey: NeverViolated = { because: "the key is random" };
const ownKey: NeverViolated = { because: "the service inserts with on conflict, or under a lock" };

/** For constraints without a default of {@link answerOf}, by name. A test compares them with the database. */
export const constraintAnswers: Readonly<Record<string, ConstraintAnswer | NeverViolated>> = {
  console_links_key_id_fkey: { because: "the key was authenticated a moment ago, and keys of persons keep their rows" },
  console_sessions_key_id_fkey: {
    because: "the key was authenticated a moment ago, and keys of persons keep their rows",
  },
  console_sessions_token_hash_key: { because: "tokens are random" },
  console_sessions_user_id_fkey: { because: "the same sign-in wrote the person" },
  users_issuer_subject_audience_key: ownKey,
  api_key_uses_key_id_fkey: { because: "keys are marked as deleted, and their rows stay" },
  api_key_uses_pkey: ownKey,
  api_keys_key_hash_key: randomKey,
  app_log_chunks_deployment_id_fkey: { because: "deployments are marked as deleted, and their rows stay" },
  app_log_chunks_pkey: ownKey,
  app_log_totals_deployment_id_fkey: { because: "deployments are marked as deleted, and their rows stay" },
  app_log_totals_pkey: { because: "the trigger updates the row on conflict" },
  app_versions_current: { because: "the service takes a lock on the project's versions" },
  app_versions_deployment_id_app_name_key: ownKey,
  app_versions_deployment_id_fkey: { because: "deployments are marked as deleted, and their rows stay" },
  app_versions_project_id_fkey: { because: "the deployment has the same project" },
  audit_chain_pkey: ownKey,
  audit_export_destinations_place: {
    status: 409,
    code: "conflict",
    message: (place) =>
      `An export destination with this bucket and prefix already exists (${place}). Choose another prefix.`,
  },
  audit_logs_pkey: ownKey,
  bot_keys_key_id_key: randomKey,
  bot_keys_signing: ownKey,
  flow_run_pictures_pkey: ownKey,
  flow_run_pictures_run_id_fkey: { because: "the same transaction locks the run" },
  flow_run_rows_pkey: ownKey,
  flow_run_rows_run_id_fkey: { because: "the same transaction inserts the run" },
  flow_runs_flow_id_fkey: gone("Flow", "flows.list"),
  schedules_flow_id_fkey: gone("Flow", "flows.list"),
  flow_versions_flow_id_fkey: gone("Flow", "flows.list"),
  flow_versions_pkey: ownKey,
  handoffs_active: ownKey,
  handoffs_session_id_fkey: { because: "the session runs, and rows of ended sessions stay longer than the request" },
  live_view_links_session_id_fkey: {
    because: "the session runs, and rows of ended sessions stay longer than the request",
  },
  session_files_session_id_fkey: { because: "a job of the service writes it, for a session whose row it has read" },
  auth_connections_credential_id_fkey: gone("Credential", "credentials.list"),
  auth_connections_profile_id_fkey: gone("Profile", "profiles.list"),
  auth_connections_project_id_profile_id_domain_key: ownKey,
  auth_connections_proxy_id_fkey: gone("Proxy", "proxies.list"),
  auth_connections_telemetry_destination_id_fkey: gone("Telemetry destination", "telemetryDestinations.list"),
  auth_flows_connection_id_fkey: gone("Connection", "auth.connections.list"),
  auth_flows_running: {
    status: 409,
    code: "conflict",
    message: () => "A login of this connection is in progress. Follow it, or wait until it ends.",
  },
  browser_pool_waiters_pool_id_fkey: gone("Browser pool", "browserPools.list"),
  browser_pools_telemetry_destination_id_fkey: gone("Telemetry destination", "telemetryDestinations.list"),
  credential_values_credential_id_fkey: { because: "the service locks the credential first" },
  vault_items_vault_id_fkey: gone("Vault", "vaults.list"),
  vault_items_vault_id_key_key: ownKey,
  vault_item_events_item_id_fkey: { because: "the service locks the item first" },
  vault_values_item_id_fkey: { because: "the service locks the item first" },
  deployment_keys_key_id_fkey: { because: "keys are marked as deleted, and their rows stay" },
  deployment_keys_pkey: ownKey,
  idempotency_keys_pkey: ownKey,
  jobs_pkey: ownKey,
  network_recordings_session_id_key: { because: "the id of the session is new" },
  organization_is_only_key: ownKey,
  organization_pkey: ownKey,
  profile_versions_pkey: ownKey,
  profile_versions_profile_id_fkey: gone("Profile", "profiles.list"),
  projects_one_default: {
    status: 409,
    code: "conflict",
    message: () => "Another request changed the default project at the same time. Retry.",
  },
  projects_present_name: nameTaken("project"),
  rate_limit_uses_pkey: ownKey,
  replica_secret_pkey: ownKey,
  servers_pkey: ownKey,
  sessions_active_name: nameTaken("browser"),
  sessions_profile_id_fkey: gone("Profile", "profiles.list"),
  sessions_profile_writer: {
    status: 409,
    code: "profile_in_use",
    message: (id) =>
      `Another session saves its changes to profile ${id}; only one session at a time may write to a profile. Wait until it ends.`,
  },
  sessions_telemetry_destination_id_fkey: gone("Telemetry destination", "telemetryDestinations.list"),
  shoal_migrations_pkey: ownKey,
  shoal_migrations_lock_pkey: ownKey,
  webhook_deliveries_webhook_id_fkey: gone("Webhook", "webhooks.list"),
};

/** The answer for a constraint; by default that of the usual key, name and project of a resource. */
export function answerOf(constraint: string): ConstraintAnswer | NeverViolated | undefined {
  const answer = constraintAnswers[constraint];
  if (answer !== undefined) return answer;
  if (constraint.endsWith("_project_id_fkey")) return projectGone;
  const table = /^(.*)s_project_id_name_key$/.exec(constraint)?.[1];
  if (table !== undefined) return nameTaken(table.replaceAll("_", " "));
  return constraint.endsWith("_pkey") ? randomKey : undefined;
}

const violations: ReadonlySet<unknown> = new Set(["23503", "23505"]);

/** Converts a violated foreign key or unique index to 404 or 409; returns other errors unchanged. */
export function explainConstraint(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || !violations.has(error.code) || !("constraint" in error))
    return error;
  const answer = answerOf(String(error.constraint));
  if (answer === undefined || "because" in answer) return error;
  const value = "detail" in error && typeof error.detail === "string" ? violatingValue(error.detail) : "";
  return new ServiceError(answer.status, answer.code, answer.message(value), { cause: error });
}

/** Extracts the last value of `Key (project_id, name)=(p1, shop) already exists.`; project ids have no comma. */
function violatingValue(detail: string): string {
  const values = /=\((.*)\)/s.exec(detail)?.[1] ?? "";
  return /^[^,]*, (.*)$/s.exec(values)?.[1] ?? values;
}
