import type { AuthConnectionsTable, AuthFlowsTable } from "@shoal/database";
import type { AuthConnection, BrowserTelemetryRequest, TimelineEvent } from "@shoal/schemas";
import type { Selectable } from "kysely";
import { canReauth } from "./can-reauth.ts";
import type { StoredNeeds } from "./stored-needs.ts";

export type FlowRow = Selectable<AuthFlowsTable>;

export interface ConnectionRow extends Omit<Selectable<AuthConnectionsTable>, "telemetry_destination_id"> {
  readonly profile_name: string | null;
  readonly credential_name: string | null;
  readonly proxy_name: string | null;
  /** Names of the values of the credential. */
  readonly stored_names: readonly string[] | null;
  readonly has_totp: boolean | null;
  /** Automatic logins that failed since the last login, and since the last change of the connection or its credential. */
  readonly reauth_failures: number | null;
  /** `error_code` of the latest of them. */
  readonly reauth_last_failure: string | null;
}

/** Lists omit the plan, which can be large. */
export type ListedConnection = Omit<ConnectionRow, "plan">;

/** @returns why the service can sign in without a person, or cannot. */
export function canReauthOf(row: ListedConnection): ReturnType<typeof canReauth> {
  return canReauth({
    signedIn: row.signed_in_at !== null,
    hasProvider: row.credential_provider !== null,
    hasCredential: row.credential_id !== null,
    storedNames: [...(row.stored_names ?? []), ...(row.has_totp === true ? ["otp"] : [])],
    // `LoginRun` wrote it.
    needs: row.needs as unknown as StoredNeeds | null,
    failures: row.reauth_failures ?? 0,
    lastFailure: row.reauth_last_failure,
  });
}

function browserOf(row: ListedConnection): AuthConnection["browser"] {
  const proxy =
    row.proxy_id !== null
      ? { id: row.proxy_id, ...(row.proxy_name !== null && { name: row.proxy_name }) }
      : row.proxy_mode !== null
        ? { mode: row.proxy_mode }
        : undefined;
  return {
    ...(proxy && { proxy }),
    ...(row.stealth !== null && { stealth: row.stealth }),
    telemetry: row.browser_telemetry as BrowserTelemetryRequest | null,
  };
}

function credentialOf(row: ListedConnection): Pick<AuthConnection, "credential"> {
  const { credential_name: name, credential_path: path, credential_provider: provider } = row;
  if (provider !== null) return { credential: { provider, ...(path === null ? { auto: true } : { path }) } };
  return name === null ? {} : { credential: { name } };
}

/** Without the state of its login. */
export function toConnection(row: ListedConnection): AuthConnection {
  return {
    id: row.id,
    profile_name: row.profile_name ?? row.profile_id,
    domain: row.domain,
    status: row.status,
    ...(row.last_auth_check_at !== null && {
      last_auth_check_at: row.last_auth_check_at,
      // oxlint-disable-next-line typescript/no-deprecated -- older clients read it
      last_auth_at: row.last_auth_check_at,
    }),
    ...credentialOf(row),
    ...canReauthOf(row),
    ...(row.proxy_id !== null && { proxy_id: row.proxy_id }),
    allowed_domains: row.allowed_domains,
    ...(row.login_url !== null && { login_url: row.login_url }),
    ...(row.post_login_url !== null && { post_login_url: row.post_login_url }),
    health_check_interval: row.health_check_interval,
    health_checks: row.health_checks,
    auto_reauth: row.auto_reauth,
    save_credentials: row.save_credentials,
    record_session: row.record_session,
    browser_telemetry: row.browser_telemetry,
    browser: browserOf(row),
  };
}

/** A login that nothing ends in time is over for callers. */
export function statusOf({ expires_at, status }: Pick<FlowRow, "expires_at" | "status">): FlowRow["status"] {
  return status === "IN_PROGRESS" && expires_at !== null && Date.parse(expires_at) <= Date.now() ? "EXPIRED" : status;
}

export function toTimelineEvent(row: FlowRow): TimelineEvent {
  const status = statusOf(row);
  return {
    type: row.type,
    id: row.id,
    timestamp: row.created_at,
    status,
    ...(row.previous_status !== null && { previous_status: row.previous_status }),
    ...(row.step !== null && { step: status === "EXPIRED" ? "EXPIRED" : row.step }),
    ...(row.error_code !== null && { error_code: row.error_code }),
    ...(row.error_message !== null && { error_message: row.error_message }),
    ...(row.website_error !== null && { website_error: row.website_error }),
    ...(row.note !== null && { note: row.note }),
    ...(row.session_id !== null && { browser_session_id: row.session_id }),
    ...(row.replay_id !== null && { replay_id: row.replay_id }),
    ...(row.telemetry_captured && { telemetry_captured: true }),
    ...(row.type !== "health_check" && { updated_at: row.updated_at }),
  };
}
