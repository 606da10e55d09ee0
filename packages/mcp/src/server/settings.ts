import type { CreateBrowser } from "@shoal/schemas";
import { defaultTimeoutSeconds, requestOf } from "../browser/browser-options.ts";
import { defaultGroups, type ToolGroup, toolGroups } from "../base/tool.ts";

/** Settings of a connection, from flags or from the query of an address. */
export interface McpSettings {
  readonly groups: ReadonlySet<ToolGroup>;
  /** Options of browsers that the connection starts. */
  readonly browser: CreateBrowser;
  /** A running session to use. The connection does not end it. */
  readonly session: string | undefined;
  /** Limit of the outline after each action, in estimated tokens; 0 = none. */
  readonly outlineTokens: number;
  /** Whether tools have output schemas, and answers structured content next to the text. */
  readonly isStructured: boolean;
}

/** An invalid setting. */
export interface SettingProblem {
  readonly field: string;
  readonly problem: string;
}

/** Names of the settings, as in the query of an address. */
export const settingNames = [
  "tools",
  "session",
  "profile",
  "save_changes",
  "proxy",
  "start_url",
  "stealth",
  "headless",
  "timeout_seconds",
  "outline_tokens",
  "structured",
] as const;
/** One of {@link settingNames}. */
export type SettingName = (typeof settingNames)[number];

class Invalid extends Error {
  readonly field: string;
  constructor(field: string, problem: string) {
    super(problem);
    this.field = field;
  }
}

/** Reads settings from texts. Empty texts count as absent. */
export function readSettings(given: Readonly<Partial<Record<string, string>>>): McpSettings | SettingProblem {
  try {
    for (const name of Object.keys(given))
      if (!settingNames.some((known) => known === name))
        throw new Invalid(name, `is unknown. Known settings: ${settingNames.join(", ")}`);
    return settingsFrom((name) => (given[name] === "" ? undefined : given[name]));
  } catch (error) {
    if (error instanceof Invalid) return { field: error.field, problem: error.message };
    throw error;
  }
}

function settingsFrom(read: (name: SettingName) => string | undefined): McpSettings {
  const flag = (name: SettingName): boolean | undefined => {
    const value = read(name);
    if (value === undefined || value === "true" || value === "false") return value && value === "true";
    throw new Invalid(name, "must be true or false");
  };
  const count = (name: SettingName, range: { readonly minimum: number; readonly maximum: number }) => {
    const value = read(name);
    if (value === undefined) return undefined;
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= range.minimum && number <= range.maximum) return number;
    throw new Invalid(name, `must be a number from ${String(range.minimum)} to ${String(range.maximum)}`);
  };
  const session = read("session");
  const profile = read("profile");
  const [headless, stealth, save_changes] = [flag("headless"), flag("stealth"), flag("save_changes")];
  if (save_changes !== undefined && profile === undefined) throw new Invalid("save_changes", "needs profile");
  return {
    groups: groupsIn(read("tools")),
    session,
    outlineTokens: count("outline_tokens", { minimum: 0, maximum: 100_000 }) ?? 2000,
    isStructured: flag("structured") ?? true,
    browser: withoutUndefined(
      requestOf({
        profile,
        save_changes,
        headless,
        stealth,
        proxy: read("proxy"),
        start_url: read("start_url"),
        timeout_seconds: count("timeout_seconds", { minimum: 10, maximum: 259_200 }) ?? defaultTimeoutSeconds,
      }),
    ),
  };
}

function groupsIn(value: string | undefined): ReadonlySet<ToolGroup> {
  if (value === undefined) return new Set(defaultGroups);
  if (value === "all") return new Set(toolGroups);
  const groups = value.split(",").map((name) => {
    const group = toolGroups.find((known) => known === name.trim());
    if (group === undefined)
      throw new Invalid(
        "tools",
        `has no group ${JSON.stringify(name.trim().slice(0, 40))}. Groups: ${toolGroups.join(", ")}, or all`,
      );
    return group;
  });
  return new Set(groups);
}

function withoutUndefined(browser: CreateBrowser): CreateBrowser {
  return Object.fromEntries(Object.entries(browser).filter(([, value]) => value !== undefined));
}
