import type { streamTelemetry } from "@shoal/contract";
import type { Handler } from "@shoal/router";
import type { Telemetry } from "./telemetry.ts";

/** Handlers of `browsers.telemetry` that are answered beside the browser; pages of the past are the service's. */
export interface TelemetryHandlers {
  readonly streamTelemetry: Handler<typeof streamTelemetry, unknown>;
}

/** @param load - the session's telemetry, made at the first call. */
export function telemetryHandlers(load: () => Promise<Telemetry>): TelemetryHandlers {
  return {
    streamTelemetry: async ({ lastEventId, query }) => (await load()).stream(query.replay, lastEventId),
  };
}
