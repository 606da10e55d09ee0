import type { AuthConnectionsTable, AuthFlowsTable } from "@shoal/database";
import type { AuthConnection, BrowserTelemetryRequest, TimelineEvent } from "@shoal/schemas";
import type { Selectable } from "kysely";

export type FlowRow = Selectable<AuthFlowsTable>;

export interface ConnectionRow extends Omit<Selectable<AuthConnectionsTable>, "telemetry_destination_id"> {
  readonly profile_name: string | null;
  readonly credential_name: string | null;
  readonly proxy_name: string | null;
}

function canReauth({
  credential_id,
  credential_provider,
  signed_in_at,
}: ConnectionRow): Pick<AuthConnection, "can_reauth" | "can_reauth_reason"> {
  if (signed_in_at === null) return { can_reauth: false, can_reauth_reason: "no_prior_successful_login" };
  if (credential_provider !== null) return { can_reauth: true, can_reauth_reason: "external_credential" };
  if (credential_id === null) return { can_reauth: false, can_reauth_reason: "no_credential" };
  return { can_reauth: true, can_reauth_reason: "has_credential" };
}

function browserOf(row: ConnectionRow): AuthConnection["browser"] {
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

function credentialOf(row: ConnectionRow): Pick<AuthConnection, "credential"> {
  const { credential_name: name, credential_path: path, credential_provider: provider } = row;
  if (provider !== null) return { credential: { provider, ...(path === null ? { auto: true } : { path }) } };
  return name === null ? {} : { credential: { name } };
}

/** Without the state of its login. */
export function toConnection(row: ConnectionRow): AuthConnection {
  return {
    id: row.id,
    profile_name: row.profile_name ?? row.profile_id,
    domain: row.domain,
    status: row.status,
    ...(row.last_auth_check_at !== null && {
      last_auth_check_at: row.last_auth_check_at,
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- older clients read it
      last_auth_at: row.last_auth_check_at,
    }),
    ...credentialOf(row),
    ...canReauth(row),
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
