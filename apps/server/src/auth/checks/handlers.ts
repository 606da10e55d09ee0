import type * as endpoints from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import type { Connections } from "../connections/connections.ts";
import type { Checks } from "./checks.ts";

export interface CheckHandlerParts {
  readonly checks: Pick<Checks, "check">;
  readonly connections: Connections;
}

export function checkHandlers({
  checks,
  connections,
}: CheckHandlerParts): Handlers<Pick<typeof endpoints, "checkConnection">, Access> {
  return {
    checkConnection: async ({ params, body, context, signal }) =>
      checks.check(await connections.existing(context.projectId, params.id), body.wait_seconds, signal),
  };
}
