import * as z from "zod/mini";
import { checked, lazyObject, type Schema } from "./schema.ts";

const destination = () =>
  checked(
    z.object({
      /** The destination's id; give this or `name`. */
      id: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
      /** The destination's name; give this or `id`. */
      name: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
    }),
    z.refine(({ id, name }) => (id === undefined) !== (name === undefined), "give exactly one of id and name"),
  );

export const TelemetryExportRequestShape = lazyObject(() => ({
  /** To an OpenTelemetry collector. */
  otlp: z.optional(
    checked(
      z.object({
        /** A destination made with `telemetry.destinations.create`. Where nothing else says what to capture, the default set is. */
        destination: z.optional(destination()),
        /** `false` ends it, and goes without `destination`; `true` alone leaves the destination as it is. */
        enabled: z.optional(z.boolean()),
      }),
      z.refine(({ destination: to, enabled }) => enabled !== false || to === undefined, "enabled: false goes without a destination"),
    ),
  ),
}));
/** Where a session's telemetry is to be sent, beside what the service keeps. */
export interface TelemetryExportRequest extends z.input<typeof TelemetryExportRequestShape> {}
export const TelemetryExportRequest: Schema<z.output<typeof TelemetryExportRequestShape>, TelemetryExportRequest> = TelemetryExportRequestShape;

export const TelemetryExportShape = lazyObject(() => ({
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
/** Where a session's telemetry is sent. */
export interface TelemetryExport extends z.output<typeof TelemetryExportShape> {}
export const TelemetryExport: Schema<TelemetryExport> = TelemetryExportShape;
