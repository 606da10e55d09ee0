import type { AuthConnectionsTable } from "@shoal/database";
import type { Insertable } from "kysely";

/** A connection without a credential, and without health checks. */
export function connectionRow(
  values: Pick<Insertable<AuthConnectionsTable>, "id" | "project_id" | "profile_id"> &
    Partial<Insertable<AuthConnectionsTable>>,
): Insertable<AuthConnectionsTable> {
  return {
    domain: `${values.id}.example`,
    login_url: null,
    credential_id: null,
    proxy_id: null,
    proxy_mode: null,
    stealth: null,
    health_check_interval: 3600,
    health_checks: false,
    auto_reauth: false,
    save_credentials: false,
    record_session: false,
    ...values,
  };
}
