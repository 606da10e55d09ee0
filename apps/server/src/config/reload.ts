import { type Config, reloadable, type SettingName } from "./settings.ts";

/** Settings that a reload changed, and changed settings that need a restart. */
export interface ReloadReport {
  readonly applied: readonly SettingName[];
  readonly needRestart: readonly SettingName[];
}

export function compareSettings(before: Config, after: Config): ReloadReport {
  const live = new Set(reloadable);
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort() as SettingName[];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  return {
    applied: changed.filter((name) => live.has(name)),
    needRestart: changed.filter((name) => !live.has(name) && name !== "new_admin_key" && name !== "accept_audit_head"),
  };
}

export function pickLive(config: Config): Partial<Config> {
  return Object.fromEntries(reloadable.map((name) => [name, config[name]]));
}
