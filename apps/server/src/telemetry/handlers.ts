import type * as endpoints from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../auth/access.ts";
import type { Sessions } from "../browsers/sessions.ts";
import type { TelemetryStore } from "./telemetry-store.ts";

type TelemetryEndpoints = Pick<typeof endpoints, "listTelemetryEvents">;

export function telemetryHandlers(sessions: Sessions, store: TelemetryStore): Handlers<TelemetryEndpoints, Access> {
  return {
    listTelemetryEvents: async ({ params, query, context, signal }) =>
      store.list(await sessions.idHere(context.projectId, params.id), query, { projectId: context.projectId, signal }),
  };
}
