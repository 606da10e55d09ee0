export { type ConfigSources, loadConfig } from "./config/config.ts";
export type { ReloadReport } from "./config/reload.ts";
export { type Config, environmentOf, flagOf, type SettingName, Settings, settings } from "./config/settings.ts";
export { defaultDataDir } from "./config/settings/defaults.ts";
export type { Setting, SettingKind } from "./config/settings/setting.ts";
export { type AdminKey, adminKeyPath, readAdminKey, writeAdminKey } from "./config/admin-key.ts";
export { createKeySecret, hashKey, isKeySecret, maskKey } from "./http/auth/api-key-secret.ts";
export { findChromium, type FoundChromium } from "@shoal/placement";
export { examine } from "./main/examine.ts";
export type { Finding } from "./main/finding.ts";
export type { RunningServer, StartOptions } from "./main/running-server.ts";
export { serve, startServer } from "./main/server.ts";
export type { LoginModel, LoginModelModule } from "./auth/logins/login-model.ts";
export type { SignIn, SignInTarget } from "./auth/logins/sign-in.ts";
export type { CredentialProvider, ProviderItem } from "./auth/providers/interface/credential-provider.ts";
export {
  type AppOutput,
  type AppProgram,
  type AppResult,
  type AppRuntime,
  BuildError,
  type BuiltApp,
} from "./deployed-apps/runtime/app-runtime.ts";
export { StartError } from "./config/start-error.ts";
export type { KeyManagement, KeyManagementModule } from "./storage/envelopes/key-management.ts";
export { version } from "./config/version.ts";
