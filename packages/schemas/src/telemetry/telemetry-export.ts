import * as z from "zod/mini";
import { checked, lazyObject } from "../base/schema.ts";
import { exactlyOne, rule } from "../base/rules.ts";

const destination = () =>
  checked(
    z.object({
      /** The destination's id; pass either this or `name`. */
      id: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
      /** The destination's name; pass either this or `id`. */
      name: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
    }),
    exactlyOne("id", "name"),
  );

/** Where to send a session's telemetry, in addition to the service's own storage. */
export interface TelemetryExportRequest extends z.input<typeof TelemetryExportRequest> {}
export const TelemetryExportRequest = lazyObject(() => ({
  /** To an OpenTelemetry collector. */
  otlp: z.optional(
    checked(
      z.object({
        /** A destination from `telemetry.destinations.create`. Captures the default categories unless others are selected. */
        destination: z.optional(destination()),
        /** `false` ends it, and goes without `destination`; `true` alone leaves the destination as it is. */
        enabled: z.optional(z.boolean()),
      }),
      rule(
        ({ destination: to, enabled }) => enabled !== false || to === undefined,
        "enabled: false goes without a destination",
        {
          keywords: {
            if: { properties: { enabled: { const: false } }, required: ["enabled"] },
            then: { not: { required: ["destination"] } },
          },
        },
      ),
    ),
  ),
}));

/** Where a session's telemetry is sent. */
export interface TelemetryExport extends z.output<typeof TelemetryExport> {}
export const TelemetryExport = lazyObject(() => ({
  /** To an OpenTelemetry collector. */
  otlp: z.optional(
    z.object({
      /** The destination's id. */
      destination: z.optional(z.string()),
      /** Whether events are sent. */
      enabled: z.optional(z.boolean()),
    }),
  ),
}));
