import { AppVersion, ListApps } from "@shoal/schemas";
import { defineEndpoint, page } from "../base/endpoint.ts";

/** Programs with actions that run on the platform. */
const area = "Apps";

/** One entry for each version of an app, newest first. */
export const listApps = defineEndpoint({
  operationId: "apps.list",
  area,
  plane: "control",
  moves: ["read apps"],
  method: "GET",
  path: "/apps",
  summary: "List deployed apps.",
  query: ListApps,
  responses: { 200: page(AppVersion) },
  errors: [400, 401, 500],
});
