export type { PluginContext, RegisterCommands } from "./plugins/plugin.ts";
