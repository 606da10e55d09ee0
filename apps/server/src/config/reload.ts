import type { Config } from "./config.ts";
import type { SettingName } from "./settings.ts";

/** Settings that can change while the service runs. */
export const reloadable = [
  "audit_retention_days",
  "drain_seconds",
  "idle_timeout_seconds",
  "log_level",
  "max_event_loop_delay_ms",
  "max_memory_mb",
  "max_requests",
  "max_sessions",
  "max_sessions_per_project",
  "max_starting_sessions",
  "rate_limit_per_address",
  "rate_limit_per_key",
  "rate_limit_per_organization",
  "request_stall_seconds",
  "shutdown_seconds",
] as const satisfies readonly SettingName[];

/** The part of the settings that can change while the service runs. */
export type LiveConfig = Pick<Config, (typeof reloadable)[number]>;

/** What became of settings that were read again. */
export interface ReloadReport {
  /** Changed, and in force. */
  readonly applied: readonly SettingName[];
  /** Changed, and in force after a restart. */
  readonly needRestart: readonly SettingName[];
}

/** Which settings differ, and whether each can change now. A setting that was given only one time counts as a change. */
export function compareSettings(before: Config, after: Config): ReloadReport {
  const live: ReadonlySet<string> = new Set(reloadable);
  // `Object.keys` forgets the names' type.
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort() as SettingName[];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return {
    applied: changed.filter((name) => live.has(name)),
    needRestart: changed.filter((name) => !live.has(name) && name !== "new_admin_key" && name !== "accept_audit_head"),
  };
}

/** The settings of {@link reloadable}. */
export function pickLive(config: Config): LiveConfig {
  // Every name of the list is one of the settings.
  return Object.fromEntries(reloadable.map((name) => [name, config[name]])) as unknown as LiveConfig;
}
