import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { AuthContext, OrgEntitlements } from "@shoal/schemas";
import { type Access, isPerson } from "../../http/auth/access.ts";
import type { Organization } from "./organization.ts";

function contextOf({ key, namedProjectId, role, strategy }: Access, organizationId: string): AuthContext {
  const isUser = isPerson({ key, role });
  return {
    authentication: {
      method: isUser ? "jwt" : "api_key",
      source: strategy ?? "api_key",
      credential_id: isUser ? null : key.id,
    },
    authorization: {
      credential_scope: { project_id: key.project_id },
      effective_scope: { project_id: namedProjectId ?? key.project_id },
      ...(key.policy && { policy: { statements: [...key.policy.wire.statements] } }),
    },
    organization: { id: organizationId },
    principal: { id: key.id, type: isUser ? "user" : "api_key" },
  };
}

export function organizationHandlers(
  organization: Organization,
  entitlements: () => OrgEntitlements,
): Handlers<OperationsOf<"auth.context" | "organization.entitlements" | "organization.limits">, Access> {
  return {
    getOrgLimits: () => organization.limits(),
    updateOrgLimits: ({ body, context }) => organization.setLimits(context.key, body),
    getOrgEntitlements: () => entitlements(),
    getAuthContext: ({ context }) => contextOf(context, organization.id),
  };
}
