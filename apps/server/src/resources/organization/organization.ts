import type { Database } from "@shoal/database";
import { badInput } from "@shoal/router";
import type { OrgLimits, UpdateOrgLimits } from "@shoal/schemas";
import type * as z from "zod/mini";
import type { KeyRow } from "../../http/auth/access.ts";
import { refuseProjectKey } from "../projects/projects.ts";
import type { SessionLimits } from "../../storage/errors/session-limits.ts";

export interface Organization {
  readonly id: string;
  limits(): Promise<OrgLimits>;
  setLimits(caller: KeyRow, request: z.output<typeof UpdateOrgLimits>): Promise<OrgLimits>;
}

/** @param settings - limits set by the operator. */
export async function openOrganization({ query }: Database, settings: SessionLimits): Promise<Organization> {
  const { id } = await query.selectFrom("organization").select("id").executeTakeFirstOrThrow();

  function toLimits(defaultMaxSessions: number | null): OrgLimits {
    const perProject = defaultMaxSessions ?? settings.perProject;
    return {
      max_concurrent_sessions: settings.perOrganization,
      default_project_max_concurrent_sessions: perProject === 0 ? null : perProject,
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
