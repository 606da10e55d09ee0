import type { telemetryCategories } from "@shoal/schemas";

/** What telemetry can be switched on for; `monitor` goes with the categories that watch the browser. */
export type TelemetryCategory = (typeof telemetryCategories)[number];

/** Categories whose events come from the browser. */
export const browserCategories = ["console", "network", "page", "interaction"] as const satisfies readonly TelemetryCategory[];

/** Whether the browser must be watched for these categories. */
export function watchesBrowser(categories: ReadonlySet<TelemetryCategory>): boolean {
  return browserCategories.some((category) => categories.has(category));
}
