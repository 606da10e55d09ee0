import type { McpFlags } from "./mcp-flags.ts";

/** Settings of `@shoal/mcp`, by their names. */
export function settingsOf(flags: McpFlags): Readonly<Record<string, string>> {
  const { headless, outlineTokens, profile, proxy, saveChanges, session, startUrl, stealth, structured } = flags;
  return present({
    tools: flags.tools,
    session,
    profile,
    save_changes: saveChanges === true ? "true" : undefined,
    proxy,
    start_url: startUrl,
    stealth: stealth === true ? "true" : undefined,
    headless: headless ? undefined : "false",
    timeout_seconds: flags.timeoutSeconds,
    outline_tokens: outlineTokens,
    structured: structured ? undefined : "false",
  });
}

/** The arguments with which a client starts the command. */
export function argumentsOf(flags: McpFlags): readonly string[] {
  const global = present({ context: flags.context, base_url: flags.baseUrl, project: flags.project });
  const given = Object.entries({ ...global, ...settingsOf(flags) }).flatMap(([name, value]) => {
    const flag = `--${name.replaceAll("_", "-")}`;
    if (name === "headless" || name === "structured") return [`--no-${name}`];
    return value === "true" ? [flag] : [flag, value];
  });
  return ["mcp", ...given];
}

function present(values: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
