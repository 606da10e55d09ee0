import * as z from "zod/mini";
import { DisplayName, pageFields, Timestamp } from "../base/common.ts";
import { checked, lazyObject, openEnum } from "../base/schema.ts";
import { maxEntries } from "../base/rules.ts";

const token = () => checked(z.string(), z.minLength(1), z.maxLength(16_384));
const cacheTtl = () => checked(z.int(), z.minimum(0), z.maximum(86_400));
const priority = () => checked(z.int(), z.minimum(-2_147_483_648), z.maximum(2_147_483_647));

/** More kinds come from modules of the operator. */
const providerType = () =>
  openEnum(
    "onepassword",
    "onepassword_connect",
    "bitwarden",
    "vault",
    "openbao",
    "infisical",
    "doppler",
    "aws_secrets_manager",
    "google_secret_manager",
  );
const settingName = () => checked(z.string(), z.minLength(1), z.maxLength(64));
const settingValue = () => checked(z.string(), z.minLength(1), z.maxLength(2048));

/** A password manager that credentials are fetched from when a login needs them. */
export interface CredentialProvider extends z.output<typeof CredentialProvider> {}
export const CredentialProvider = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** Kind of provider: `onepassword` is 1Password. */
  provider_type: providerType(),
  /** Unique in the project. */
  name: z.string(),
  /** Whether logins use it. */
  enabled: z.boolean(),
  /** Providers with lower numbers are asked first. */
  priority: z.int(),
  /** Address, mount and other settings of its kind. */
  settings: z.optional(z.record(z.string(), z.string())),
  /** Seconds to cache its answers. */
  cache_ttl_seconds: z.optional(z.int()),
  /** Creation time. */
  created_at: Timestamp,
  /** When it was last changed. */
  updated_at: Timestamp,
}));

/** Input of `credentialProviders.create`. */
export interface CreateCredentialProvider extends z.input<typeof CreateCredentialProvider> {}
export const CreateCredentialProvider = lazyObject(() => ({
  /** Kind of provider: `onepassword` is 1Password. */
  provider_type: providerType(),
  /** Unique in the project, 1 to 255 characters. */
  name: DisplayName,
  /** The token, key or password of the provider, up to 16,384 characters. It is stored encrypted and never sent back. */
  token: token(),
  /** Seconds to cache its answers, 0 to 86400. */
  cache_ttl_seconds: z._default(cacheTtl(), 300),
  /** Settings of the kind, such as `address` and `mount` of `vault`; up to 20. */
  settings: z.optional(checked(z.record(settingName(), settingValue()), maxEntries(20, "settings"))),
  /** Providers with lower numbers are asked first. */
  priority: z._default(priority(), 0),
}));

/** Input of `credentialProviders.update`. */
export interface UpdateCredentialProvider extends z.input<typeof UpdateCredentialProvider> {}
export const UpdateCredentialProvider = lazyObject(() => ({
  /** The new name, unique in the project, 1 to 255 characters. */
  name: z.optional(DisplayName),
  /** Whether logins use it. */
  enabled: z.optional(z.boolean()),
  /** Providers with lower numbers are asked first. */
  priority: z.optional(priority()),
  /** A new token, in place of the old one. */
  token: z.optional(token()),
  /** Seconds to cache its answers, 0 to 86400. */
  cache_ttl_seconds: z.optional(cacheTtl()),
  /** Settings to change; `null` removes one. A new `address` also needs the `token`. */
  settings: z.optional(checked(z.record(settingName(), z.nullable(settingValue())), maxEntries(20, "settings"))),
}));

/** Input of `credentialProviders.list`. */
export interface ListCredentialProviders extends z.input<typeof ListCredentialProviders> {}
export const ListCredentialProviders = lazyObject(() => ({
  ...pageFields,
  /** Part of a name, case does not matter, or a whole id. */
  query: z.optional(z.string()),
}));

/** An entry of a password manager, without its secrets. */
export interface CredentialProviderItem extends z.output<typeof CredentialProviderItem> {}
export const CredentialProviderItem = lazyObject(() => ({
  /** The provider's own identifier of the item. */
  id: z.string(),
  /** Its title. */
  title: z.string(),
  /** Identifier of the vault that it is in. */
  vault_id: z.string(),
  /** Name of that vault. */
  vault_name: z.string(),
  /** `vault_name/title`, as the `path` of a connection's credential takes it. */
  path: z.string(),
  /** Sites that it is for. */
  urls: z.optional(z.array(z.string())),
}));

/** Items of a password manager. */
export interface CredentialProviderItems extends z.output<typeof CredentialProviderItems> {}
export const CredentialProviderItems = lazyObject(() => ({
  /** The items that the token may read, at most 1000. */
  items: z.optional(z.array(CredentialProviderItem)),
}));

/** Result of a test: whether the password manager is reachable, and the vaults of its token. */
export interface CredentialProviderTestResult extends z.output<typeof CredentialProviderTestResult> {}
export const CredentialProviderTestResult = lazyObject(() => ({
  /** Whether the provider accepted the token. */
  success: z.boolean(),
  /** The vaults that the token opens. */
  vaults: z.array(
    z.object({
      /** The provider's own identifier of the vault. */
      id: z.string(),
      /** Its name. */
      name: z.string(),
    }),
  ),
  /** Why it failed. */
  error: z.optional(z.string()),
}));
