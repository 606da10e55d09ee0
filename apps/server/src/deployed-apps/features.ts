import type { Placement } from "@shoal/placement";
import type { Host } from "../host/host.ts";
import type { BoxConnections } from "../http/box-connections.ts";
import type { RequestOrigins } from "../http/request-origin.ts";
import type { SessionSigner } from "../sessions/browsers/handlers.ts";
import type { Sessions } from "../sessions/browsers/sessions.ts";
import { DeploymentStore } from "./deployments/deployment-store.ts";
import { deploymentsFeature } from "./deployments/feature.ts";
import { invocationsFeature } from "./invocations/feature.ts";
import { AppLogs } from "./logs/app-logs.ts";
import type { AppRuntime } from "./runtime/app-runtime.ts";
import { appRuntimeOnUse } from "./app-runtime-on-use.ts";
import { sdkFeature } from "./sdk-feature.ts";
import { SdkPackages } from "./registry/sdk-packages.ts";
import { schedulesFeature } from "./schedules/feature.ts";
import type { ScheduledRuns } from "../sessions/flows/run/scheduled-runs.ts";

interface AppNeeds {
  readonly boxes: BoxConnections;
  readonly flows: ScheduledRuns;
  readonly isDoubtful: () => boolean;
  readonly origins: RequestOrigins;
  readonly placement: Placement;
  /** Replaces the runtime, in tests. */
  readonly runtime: AppRuntime | undefined;
  readonly sessions: Sessions;
  readonly signer: SessionSigner;
}

/** Deployed apps. The server must be registered. */
export async function appFeatures(host: Host, { boxes, flows, origins, placement, ...needs }: AppNeeds) {
  const sdk = new SdkPackages();
  const shared = {
    ...needs,
    logs: new AppLogs({ ...host, maxProjectBytes: () => host.settings.inForce.app_log_max_gib * 2 ** 30 }),
    runtime: needs.runtime ?? appRuntimeOnUse(host, { boxes, placement, sdk }),
    store: new DeploymentStore(host.database, host.envelopes),
  };
  const invocations = await invocationsFeature(host, shared);
  return {
    sdk: sdkFeature(sdk, origins),
    schedules: schedulesFeature(host, flows),
    invocations,
    deployments: deploymentsFeature(host, {
      ...shared,
      onRunning: (id) => {
        invocations.provides.prepare(id);
      },
    }),
  };
}
