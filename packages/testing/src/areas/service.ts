import type * as endpoints from "@shoal/contract";
import type { Handlers } from "@shoal/router";

type ServiceEndpoints = Pick<typeof endpoints, "getHealth" | "getReadiness" | "getOpenApi">;

/** Handlers of the operations that need no key. */
export function serviceHandlers(): Handlers<ServiceEndpoints, unknown> {
  return {
    getHealth: () => ({ status: "ok", version: "0.0.0-fake" }),
    getReadiness: () => ({ status: "ready", checks: {} }),
    getOpenApi: async () => (await import("@shoal/contract/openapi.json", { with: { type: "json" } })).default,
  };
}
