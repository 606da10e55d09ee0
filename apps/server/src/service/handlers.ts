import type * as endpoints from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import { version } from "../version.ts";
import type { ReadinessChecks } from "./readiness.ts";

type ServiceEndpoints = Pick<typeof endpoints, "getHealth" | "getReadiness">;

/** Operations without a key. `/openapi.json` is served as bytes by {@link serveOpenApi}. */
export function serviceHandlers(readiness: ReadinessChecks): Handlers<ServiceEndpoints> {
  return {
    getHealth: () => ({ status: "ok", version }),
    getReadiness: () => readiness.examine(),
  };
}
