import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import { version } from "../../config/version.ts";
import type { ReadinessChecks } from "./readiness.ts";

/** {@link serveDescriptions} serves `/openapi.json`. */
export function serviceHandlers(
  readiness: ReadinessChecks,
): Handlers<Omit<OperationsOf<"service">, "getOpenApi">, unknown> {
  return {
    getHealth: () => ({ status: "ok", version }),
    getReadiness: () => readiness.examine(),
  };
}
