import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";

export function serviceHandlers(): Handlers<OperationsOf<"service">, unknown> {
  return {
    getHealth: () => ({ status: "ok", version: "0.0.0-fake" }),
    getReadiness: () => ({ status: "ready", checks: {} }),
    getOpenApi: async () => (await import("@shoal/contract/openapi.json", { with: { type: "json" } })).default,
  };
}
