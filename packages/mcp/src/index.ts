export type { Caller } from "./http/caller.ts";
export { McpEndpoint, type McpEndpointOptions, refusal } from "./http/endpoint.ts";
export {
  readSettings,
  settingNames,
  type McpSettings,
  type SettingName,
  type SettingProblem,
} from "./server/settings.ts";
export { serveStdio, type StdioOptions } from "./stdio/serve-stdio.ts";
export { defaultGroups, toolGroups, type ToolGroup } from "./base/tool.ts";
