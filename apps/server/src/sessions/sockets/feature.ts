import type { FastifyInstance } from "fastify";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { SessionUpgrades, type UpgradeParts } from "./upgrade.ts";

export function socketsFeature(
  { config, log, secrets }: Host,
  needs: Omit<UpgradeParts, "log" | "secrets" | "timeoutMs">,
) {
  const timeoutMs = config.websocket_timeout_seconds * 1000;
  const upgrades = new SessionUpgrades({ ...needs, secrets, timeoutMs, log });
  return {
    serve(app: FastifyInstance) {
      upgrades.serve(app.server);
    },
  } satisfies Feature;
}
