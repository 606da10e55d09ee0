import { readConfig } from "./contexts.ts";

/** Modules that add commands: those in SHOAL_PLUGINS, by commas, and those in `plugins` of config.json. */
export function pluginNames(env: NodeJS.ProcessEnv): string[] {
  const named = (env.SHOAL_PLUGINS ?? "").split(",").map((name) => name.trim());
  return [...new Set([...named, ...(readConfig(env).plugins ?? [])])].filter((name) => name !== "");
}
