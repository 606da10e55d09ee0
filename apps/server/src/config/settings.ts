import * as z from "zod/mini";
import { apps } from "./settings/apps.ts";
import { credentialProviders } from "./settings/credential-providers.ts";
import { limits } from "./settings/limits.ts";
import { network } from "./settings/network.ts";
import { operation } from "./settings/operation.ts";
import { people } from "./settings/people.ts";
import { providers } from "./settings/providers.ts";
import { records } from "./settings/records.ts";
import { secrets } from "./settings/secrets.ts";
import { sessions } from "./settings/sessions.ts";
import type { Setting } from "./settings/setting.ts";
import { storage } from "./settings/storage.ts";

const definitions = {
  ...network,
  ...storage,
  ...secrets,
  ...sessions,
  ...apps,
  ...providers,
  ...credentialProviders,
  ...people,
  ...limits,
  ...records,
  ...operation,
};
type Definitions = typeof definitions;

/** Name of a setting in the config file, such as `data_dir`. */
export type SettingName = keyof Definitions;

/** Its flag is `--name-with-hyphens`, its environment variable `SHOAL_NAME`. */
export const settings: Readonly<Record<SettingName, Setting>> = definitions;

// `Object.keys` returns plain strings.
export const settingNames = Object.keys(definitions) as readonly SettingName[];

/** Settings that a reload changes without a restart. */
export const reloadable = settingNames.filter((name) => settings[name].live);

type ValueOf<Name extends SettingName> = z.output<Definitions[Name]["schema"]>;

export type Settings = { [Name in SettingName]?: ValueOf<Name> | undefined };

/** The settings of the service, as in the config file. */
export const Settings: z.ZodMiniType<Settings> = z.strictObject(
  Object.fromEntries(settingNames.map((name) => [name, z.optional(settings[name].schema)])),
);

type CompleteName = {
  [Name in SettingName]: Definitions[Name] extends { readonly fallback: unknown } ? Name : never;
}[SettingName];

/** Validated settings with defaults; paths are absolute. */
export type Config = { readonly [Name in CompleteName]: ValueOf<Name> } & {
  readonly [Name in Exclude<SettingName, CompleteName>]?: ValueOf<Name>;
};

/** Returns the flag of a setting, such as `--data-dir`. */
export function flagOf(name: string): string {
  return `--${name.replaceAll("_", "-")}`;
}

/** The first variable that is set applies. */
export function environmentOf(name: SettingName): readonly string[] {
  return settings[name].flagOnly ? [] : [`SHOAL_${name.toUpperCase()}`, ...(settings[name].env ?? [])];
}
