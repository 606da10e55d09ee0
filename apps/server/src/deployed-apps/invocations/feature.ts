import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import type { SessionSigner } from "../../sessions/browsers/handlers.ts";
import { InvokedSessions } from "../../sessions/browsers/invoked-sessions.ts";
import type { Sessions } from "../../sessions/browsers/sessions.ts";
import { DeployedApps } from "../deployments/deployed-apps.ts";
import type { DeploymentStore } from "../deployments/deployment-store.ts";
import { DeploymentKeys } from "../keys/deployment-keys.ts";
import type { AppLogs } from "../logs/app-logs.ts";
import type { AppRuntime } from "../runtime/app-runtime.ts";
import { invocationHandlers } from "./handlers.ts";
import { invocationRulesOf } from "./invocation-rules.ts";
import { Invocations } from "./invocations.ts";

interface InvocationNeeds {
  readonly isDoubtful: () => boolean;
  readonly logs: AppLogs;
  readonly runtime: AppRuntime;
  readonly sessions: Sessions;
  readonly signer: SessionSigner;
  readonly store: DeploymentStore;
}

export async function invocationsFeature(host: Host, needs: InvocationNeeds) {
  const { cleanup, database, envelopes, log, serverId, settings } = host;
  const { sessions, store } = needs;
  const invokedSessions = new InvokedSessions({ database, sessions, serverId, log });
  cleanup.add("the sessions of invocations", () => {
    invokedSessions.close();
  });
  const invocations = new Invocations({
    ...needs,
    database,
    apps: new DeployedApps(database, store),
    keys: new DeploymentKeys(database, envelopes),
    rules: invocationRulesOf(settings),
    serverId,
    isDraining: () => sessions.isDraining,
    log,
  });
  const lost = await invocations.store.endLost(serverId);
  if (lost > 0) log.warn({ invocations: lost }, "ended invocations of an earlier run that did not stop properly");
  return {
    provides: invocations,
    handlers: invocationHandlers({
      appLogs: needs.logs,
      database,
      invocations,
      invokedSessions,
      signer: needs.signer,
    }),
    jobs: [{ name: "ended invocations and idle keys", run: () => invocations.sweep() }],
    stop: () => invocations.close(),
  } satisfies Feature;
}
