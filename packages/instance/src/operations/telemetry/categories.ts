import type { capturedCategories } from "../../protocol/protocol.ts";

/** What can be selected. `monitor` is added to the categories that watch the browser. */
export type TelemetryCategory = (typeof capturedCategories)[number];

export const browserCategories = [
  "console",
  "network",
  "page",
  "interaction",
] as const satisfies readonly TelemetryCategory[];

export function watchesBrowser(categories: ReadonlySet<TelemetryCategory>): boolean {
  return browserCategories.some((category) => categories.has(category));
}
