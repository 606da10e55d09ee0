import {
  actOnPage,
  browserComputer,
  browserDownloads,
  browserFs,
  browserLogs,
  browserProcess,
  browserReplays,
  callPageTool,
  type contract,
  curl,
  executePlaywright,
  getBrowserStats,
  listPageTools,
  loadExtensions,
  observePage,
  printPage,
  readPage,
  screenshotPage,
  streamTelemetry,
} from "@shoal/contract";
import type { InstancePlane } from "./not-implemented.ts";

// The service handles `markReplay` itself.
const { markReplay: _markReplay, ...recordings } = browserReplays;

/** The operations that an instance answers. Lists the areas: importing the whole contract would cost 8 ms of CPU. */
export const sessionEndpoints = {
  ...browserFs,
  ...browserComputer,
  ...browserDownloads,
  ...browserLogs,
  ...browserProcess,
  ...recordings,
  curl,
  executePlaywright,
  getBrowserStats,
  loadExtensions,
  actOnPage,
  callPageTool,
  listPageTools,
  observePage,
  printPage,
  readPage,
  screenshotPage,
  streamTelemetry,
} satisfies Partial<InstancePlane<typeof contract>>;
