import type { Database } from "@shoal/database";
import { badInput } from "@shoal/router";
import type { OrgLimits, UpdateOrgLimits } from "@shoal/schemas";
import { sql } from "kysely";
import type * as z from "zod/mini";
import type { KeyRow } from "../../http/auth/access.ts";
import { refuseProjectKey } from "../projects/projects.ts";
import type { SessionLimits } from "../../storage/errors/session-limits.ts";

export interface Organization {
  readonly id: string;
  limits(): Promise<OrgLimits>;
  setLimits(caller: KeyRow, request: z.output<typeof UpdateOrgLimits>): Promise<OrgLimits>;
}

export interface OrganizationSettings {
  /** Set by the operator. */
  readonly limits: SessionLimits;
  /** Shortest time between two checks of a connection. */
  readonly minHealthCheckSeconds: () => number;
}

export async function openOrganization(
  { query }: Database,
  { limits: settings, minHealthCheckSeconds }: OrganizationSettings,
): Promise<Organization> {
  const { id } = await query.selectFrom("organization").select("id").executeTakeFirstOrThrow();

  async function toLimits(defaultMaxSessions: number | null): Promise<OrgLimits> {
    const perProject = defaultMaxSessions ?? settings.perProject;
    const { used } = await query
      .selectFrom("auth_connections")
      .select(({ fn }) => fn.countAll<string>().as("used"))
      .executeTakeFirstOrThrow();
    const { vaults } = await query
      .selectFrom("vaults")
      .select(({ fn }) => fn.countAll<string>().as("vaults"))
      .executeTakeFirstOrThrow();
    const { rows } = await sql<{ used: string }>`select shoal_used_sessions(null) as used`.execute(query);
    const sessions = Number(rows[0]?.used);
    return {
      max_concurrent_sessions: settings.perOrganization,
      concurrent_sessions_used: sessions,
      concurrent_sessions_available: Math.max(0, settings.perOrganization - sessions),
      default_project_max_concurrent_sessions: perProject === 0 ? null : perProject,
      max_auth_connections: null,
      auth_connections_used: Number(used),
      min_health_check_interval_seconds: minHealthCheckSeconds(),
      max_vaults: null,
      vaults_used: Number(vaults),
    };
  }

  async function limits(): Promise<OrgLimits> {
    const { default_max_sessions } = await query
      .selectFrom("organization")
      .select("default_max_sessions")
      .executeTakeFirstOrThrow();
    return toLimits(default_max_sessions);
  }

  return {
    id,
    limits,
    async setLimits(caller, { default_project_max_concurrent_sessions: limit }) {
      refuseProjectKey(caller, "change the limits of the organisation");
      if (limit === undefined || limit === null) return limits();
      if (limit > settings.perOrganization) {
        throw badInput(
          "body.default_project_max_concurrent_sessions",
          `expected at most ${String(settings.perOrganization)}, the limit of the organisation`,
          {
            limit: settings.perOrganization,
            hint: "The operator can raise it with max_sessions_per_organization",
          },
        );
      }
      await query.updateTable("organization").set({ default_max_sessions: limit }).execute();
      return toLimits(limit);
    },
  };
}
