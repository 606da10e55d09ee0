import { AuthContext } from "@shoal/schemas";
import { defineEndpoint, json } from "./endpoint.ts";

const area = "Organization";

/** Tells the key or person that calls, and which project it may reach: the first thing to ask when an answer is not what you expect. */
export const getAuthContext = defineEndpoint({
  operationId: "auth.context.get",
  area,
  plane: "control",
  method: "GET",
  path: "/auth/context",
  summary: "Tell who is calling.",
  responses: { 200: json(AuthContext) },
  errors: [401, 500],
});
