import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { AuthContext, OrgEntitlements } from "@shoal/schemas";
import type { Access } from "../../http/auth/access.ts";
import type { Organization } from "./organization.ts";

function contextOf({ key, namedProjectId, role, strategy }: Access, organizationId: string): AuthContext {
  const isPerson = role !== undefined;
  return {
    authentication: {
      method: isPerson ? "jwt" : "api_key",
      source: strategy ?? "api_key",
      credential_id: isPerson ? null : key.id,
    },
    authorization: {
      credential_scope: { project_id: key.project_id },
      effective_scope: { project_id: namedProjectId ?? key.project_id },
    },
    organization: { id: organizationId },
    principal: { id: key.id, type: isPerson ? "user" : "api_key" },
  };
}

export function organizationHandlers(
  organization: Organization,
  entitlements: OrgEntitlements,
): Handlers<OperationsOf<"auth.context" | "organization.entitlements" | "organization.limits">, Access> {
  return {
    getOrgLimits: () => organization.limits(),
    updateOrgLimits: ({ body, context }) => organization.setLimits(context.key, body),
    getOrgEntitlements: () => entitlements,
    getAuthContext: ({ context }) => contextOf(context, organization.id),
  };
}
