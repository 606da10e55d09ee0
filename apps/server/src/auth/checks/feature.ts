import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import type { SessionRules } from "../../sessions/browsers/session-runner.ts";
import type { Sessions } from "../../sessions/browsers/sessions.ts";
import type { Connections } from "../connections/connections.ts";
import type { Logins } from "../logins/logins.ts";
import { CheckStore } from "./check-store.ts";
import { Checks } from "./checks.ts";
import { ConnectionChecker, type ConnectionCheckerParts } from "./connection-checker.ts";
import { checkHandlers } from "./handlers.ts";

interface CheckNeeds extends Omit<ConnectionCheckerParts, "log"> {
  readonly connections: Connections;
  readonly isDoubtful: () => boolean;
  readonly logins: Pick<Logins, "start">;
  readonly rules: SessionRules;
  readonly sessions: Sessions;
}

/** Starts the checks of this server. It must be registered. */
export async function checksFeature({ database, isStopping, log, serverId, settings }: Host, needs: CheckNeeds) {
  const { connections, rules, sessions } = needs;
  const store = new CheckStore(database, serverId);
  await store.releaseAll();
  const checks = new Checks({
    ...needs,
    connections: connections.store,
    database,
    store,
    checker: new ConnectionChecker({ ...needs, log }),
    rules: {
      get maxBrowsers() {
        return settings.inForce.max_health_checks;
      },
      get maxSessions() {
        return rules.maxSessions;
      },
      limits: rules.limits,
    },
    room: () => sessions.room(),
    isDraining: () => isStopping() || sessions.isDraining,
    log,
  });
  checks.start();
  return { handlers: checkHandlers({ checks, connections }), stop: () => checks.close() } satisfies Feature;
}
