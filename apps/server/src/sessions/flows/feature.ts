import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import type { Sessions } from "../browsers/sessions.ts";
import { WaitingLine } from "../waiting/waiting-line.ts";
import { Flows } from "./flows.ts";
import { flowHandlers } from "./handlers.ts";
import type { Regions } from "../../cluster/regions.ts";
import { FlowRunner, type FlowRunnerParts } from "./run/flow-runner.ts";
import { FlowRunStore } from "./run/run-store.ts";
import { ScheduledRuns } from "./run/scheduled-runs.ts";

export interface FlowNeeds extends Pick<
  FlowRunnerParts,
  "gate" | "handoffs" | "openSecret" | "presentAccess" | "recorder" | "signInBrowsers"
> {
  readonly sessions: Sessions;
  readonly regions: Pick<Regions, "ofSession">;
}

/** Actions on pages that the service repeats without a model. */
export async function flowsFeature({ database, isStopping, log, serverId }: Host, needs: FlowNeeds) {
  const store = new FlowRunStore(database, serverId);
  await store.loseOwn();
  const isDraining = () => isStopping() || needs.sessions.isDraining;
  const runner = new FlowRunner({ ...needs, database, isDraining, line: new WaitingLine(), log, store });
  const flows = new Flows(database);
  return {
    provides: new ScheduledRuns({ ...needs, flows, isDraining, runner }),
    handlers: flowHandlers({ ...needs, flows, runner, store }),
    changes: {
      flow_runs: (id: string | undefined) => {
        runner.changed(id).catch((error: unknown) => {
          log.warn({ err: error }, "runs of flows could not be read");
        });
      },
    },
    stop: () => runner.close(),
  } satisfies Feature;
}
