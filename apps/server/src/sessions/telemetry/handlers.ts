import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import type { TelemetryStore } from "./telemetry-store.ts";

export interface SessionFinder {
  idHere(projectId: string | undefined, idOrName: string, kind: "telemetry"): Promise<string>;
}

export function telemetryHandlers(
  sessions: SessionFinder,
  store: TelemetryStore,
): Handlers<Omit<OperationsOf<"browsers.telemetry">, "streamTelemetry">, Access> {
  return {
    listTelemetryEvents: async ({ params, query, context, signal }) =>
      store.list(await sessions.idHere(context.projectId, params.id, "telemetry"), query, {
        projectId: context.projectId,
        signal,
      }),
  };
}
