import { readValidConfig } from "../connection/contexts.ts";

/** The comma-separated names in SHOAL_PLUGINS, and `plugins` in config.json. */
export function pluginNames(env: NodeJS.ProcessEnv): string[] {
  const named = (env.SHOAL_PLUGINS ?? "").split(",").map((name) => name.trim());
  return [...new Set([...named, ...(readValidConfig(env).plugins ?? [])])].filter((name) => name !== "");
}
