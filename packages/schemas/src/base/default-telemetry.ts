import * as z from "zod/mini";
import { rule } from "./rules.ts";
import { checked, lazyObject, openEnum } from "./schema.ts";

/** What telemetry can capture by default. `bodies`: requests with the first kilobytes of text bodies; includes `network`. */
export const defaultTelemetryParts = [
  "console",
  "network",
  "bodies",
  "page",
  "interaction",
  "screenshot",
  "off",
] as const;
type DefaultTelemetryPart = (typeof defaultTelemetryParts)[number];

/** Categories, or `off` alone. */
export type DefaultTelemetry = DefaultTelemetryPart[];
export const DefaultTelemetry = z.lazy(() =>
  checked(
    z.array(z.enum(defaultTelemetryParts)),
    z.minLength(1, "name at least one category, or off"),
    z.maxLength(defaultTelemetryParts.length),
    rule((parts) => parts.length === 1 || !parts.includes("off"), "off goes without categories", {
      keywords: { if: { contains: { const: "off" } }, then: { maxItems: 1 } },
    }),
  ),
);

/** What new sessions capture, if they and their project say nothing else. */
export interface EvidenceDefaults extends z.output<typeof EvidenceDefaults> {}
export const EvidenceDefaults = lazyObject(() => ({
  /** Categories of telemetry, or `off`. */
  default_telemetry: z.array(openEnum(...defaultTelemetryParts)),
  /** Whether sessions are recorded as a video from their start. */
  default_recording: z.boolean(),
}));
