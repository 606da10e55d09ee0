import type { streamTelemetry } from "@shoal/contract";
import type { Handler } from "@shoal/router";
import type { Telemetry } from "./telemetry.ts";

/** Handlers of `browsers.telemetry` in the instance; the service answers for past events. */
export interface TelemetryHandlers {
  readonly streamTelemetry: Handler<typeof streamTelemetry, unknown>;
}

/** @param load - returns the session's telemetry, created at the first call. */
export function telemetryHandlers(load: () => Promise<Telemetry>): TelemetryHandlers {
  return {
    streamTelemetry: async ({ lastEventId, query }) => (await load()).stream(query.replay, lastEventId),
  };
}
