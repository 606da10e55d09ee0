import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { AuthContext, OrgEntitlements } from "@shoal/schemas";
import type { Access } from "../../http/auth/access.ts";
import type { Organization } from "./organization.ts";

function contextOf({ key, namedProjectId }: Access, organizationId: string): AuthContext {
  return {
    authentication: { method: "api_key", source: "api_key", credential_id: key.id },
    authorization: {
      credential_scope: { project_id: key.project_id },
      effective_scope: { project_id: namedProjectId ?? key.project_id },
    },
    organization: { id: organizationId },
    principal: { id: key.id, type: "api_key" },
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
