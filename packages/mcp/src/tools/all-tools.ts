import { handoffTools } from "./handoff.ts";
import { type LifecycleOptions, lifecycleTools, profileTools, sessionTools } from "./browsers.ts";
import { debugTools } from "./debug.ts";
import { fileTools } from "./files.ts";
import { flowTools } from "./flows.ts";
import { pageOperations } from "./page.ts";
import { pdfTools } from "./pdf.ts";
import { pageTools } from "./page-tools.ts";
import { processTools } from "./processes.ts";
import { renderTools } from "./render.ts";
import { searchTools } from "./search.ts";
import type { Tool, ToolGroup } from "../base/tool.ts";

export function toolsOf(
  groups: ReadonlySet<ToolGroup>,
  lifecycle: Pick<LifecycleOptions, "defaults" | "own">,
): readonly Tool[] {
  return [
    ...lifecycleTools({ ...lifecycle, withProfiles: groups.has("profiles") }),
    ...[
      ...pageOperations,
      ...pdfTools,
      ...pageTools,
      ...fileTools,
      ...debugTools,
      ...processTools,
      ...renderTools,
      ...searchTools,
      ...sessionTools,
      ...profileTools,
      ...handoffTools,
      ...flowTools(groups.has("secrets")),
    ].filter(({ group }) => group !== undefined && groups.has(group)),
  ];
}
