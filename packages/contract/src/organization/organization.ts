import { OrgEntitlements, OrgLimits, UpdateOrgLimits } from "@shoal/schemas";
import { defineEndpoint, json } from "../base/endpoint.ts";

/** Features and limits of the organization, and the caller. */
const area = "Organization";

/** The limits apply to all projects together. */
export const getOrgLimits = defineEndpoint({
  operationId: "organization.limits.get",
  area,
  plane: "control",
  moves: ["read organization"],
  scope: ["organizations:read"],
  method: "GET",
  path: "/org/limits",
  summary: "Get the limits of the organisation.",
  responses: { 200: json(OrgLimits) },
  errors: [401, 500],
});

/** 0 removes a limit; absent fields stay unchanged. Needs an organisation-wide key. */
export const updateOrgLimits = defineEndpoint({
  operationId: "organization.limits.update",
  area,
  plane: "control",
  moves: ["write organization"],
  method: "PATCH",
  path: "/org/limits",
  summary: "Change the limits of the organisation.",
  body: json(UpdateOrgLimits),
  responses: { 200: json(OrgLimits) },
  errors: [400, 401, 403, 500],
});

/** Available features and their limits. */
export const getOrgEntitlements = defineEndpoint({
  operationId: "organization.entitlements.get",
  area,
  plane: "control",
  moves: ["read organization"],
  scope: ["organizations:read"],
  method: "GET",
  path: "/org/entitlements",
  summary: "Get the features and limits of the organisation.",
  responses: { 200: json(OrgEntitlements) },
  errors: [401, 500],
});
