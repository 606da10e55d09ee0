import { actTools } from "./act.ts";
import { handoffTools, type LifecycleOptions, lifecycleTools, profileTools, sessionTools } from "./browsers.ts";
import { fileTools } from "./files.ts";
import { observeTools } from "./observe.ts";
import { processTools } from "./processes.ts";
import { readTools, screenshotTools } from "./read.ts";
import type { Tool, ToolGroup } from "../base/tool.ts";

export function toolsOf(
  groups: ReadonlySet<ToolGroup>,
  lifecycle: Pick<LifecycleOptions, "defaults" | "own">,
): readonly Tool[] {
  return [
    ...lifecycleTools({ ...lifecycle, withProfiles: groups.has("profiles") }),
    ...[
      ...observeTools,
      ...actTools,
      ...readTools,
      ...screenshotTools,
      ...fileTools,
      ...processTools,
      ...sessionTools,
      ...profileTools,
      ...handoffTools,
    ].filter(({ group }) => group !== undefined && groups.has(group)),
  ];
}
