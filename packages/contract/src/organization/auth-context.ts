import { AuthContext } from "@shoal/schemas";
import { defineEndpoint, json } from "../base/endpoint.ts";

const area = "Organization";

/** Shows the calling key or person and the project it may reach. Start here when a response is unexpected. */
export const getAuthContext = defineEndpoint({
  operationId: "auth.context.get",
  area,
  plane: "control",
  moves: ["read caller"],
  scope: [],
  method: "GET",
  path: "/auth/context",
  summary: "Show the caller.",
  responses: { 200: json(AuthContext) },
  errors: [401, 500],
});
