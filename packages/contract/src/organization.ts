import { OrgEntitlements, OrgLimits, UpdateOrgLimits } from "@shoal/schemas";
import { defineEndpoint, json } from "./endpoint.ts";

const area = "Organization";

/** They hold for all projects together. */
export const getOrgLimits = defineEndpoint({
  operationId: "organization.limits.get",
  area,
  plane: "control",
  method: "GET",
  path: "/org/limits",
  summary: "Get the limits of the organisation.",
  responses: { 200: json(OrgLimits) },
  errors: [401, 500],
});

/** 0 takes a limit away; what is absent stays as it is. Needs a key of the whole organisation. */
export const updateOrgLimits = defineEndpoint({
  operationId: "organization.limits.update",
  area,
  plane: "control",
  method: "PATCH",
  path: "/org/limits",
  summary: "Change the limits of the organisation.",
  body: json(UpdateOrgLimits),
  responses: { 200: json(OrgLimits) },
  errors: [400, 401, 403, 500],
});

/** What can be used, and how much of it at once. */
export const getOrgEntitlements = defineEndpoint({
  operationId: "organization.entitlements.get",
  area,
  plane: "control",
  method: "GET",
  path: "/org/entitlements",
  summary: "Get what the organisation may use.",
  responses: { 200: json(OrgEntitlements) },
  errors: [401, 500],
});
