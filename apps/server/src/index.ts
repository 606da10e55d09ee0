export { type Config, type ConfigSources, loadConfig } from "./config/config.ts";
export type { ReloadReport } from "./config/reload.ts";
export { defaultDataDir, environmentOf, flagOf, type Setting, type SettingKind, type SettingName, Settings, settings } from "./config/settings.ts";
export { type AdminKey, adminKeyPath, readAdminKey } from "./data-dir/admin-key.ts";
export { examine, type Finding } from "./examine.ts";
export type { RunningServer, StartOptions } from "./running-server.ts";
export { serve, startServer } from "./server.ts";
export { StartError } from "./start-error.ts";
export { version } from "./version.ts";
