import * as z from "zod/mini";
import { DisplayName, pageFields, Timestamp } from "./common.ts";
import { checked, lazyObject, openEnum, type Schema } from "./schema.ts";

const token = () => checked(z.string(), z.minLength(1), z.maxLength(16_384));
const cacheTtl = () => checked(z.int(), z.minimum(0), z.maximum(86_400));
const priority = () => checked(z.int(), z.minimum(-2_147_483_648), z.maximum(2_147_483_647));

export const CredentialProviderShape = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** What it is: `onepassword` is 1Password. */
  provider_type: openEnum("onepassword"),
  /** Unique in the organisation. */
  name: z.string(),
  /** Whether it is asked for credentials. */
  enabled: z.boolean(),
  /** Providers with lower numbers are asked first. */
  priority: z.int(),
  /** When it was made. */
  created_at: Timestamp,
  /** When it was last changed. */
  updated_at: Timestamp,
}));
/** A password manager that credentials are fetched from when a login needs them. */
export interface CredentialProvider extends z.output<typeof CredentialProviderShape> {}
export const CredentialProvider: Schema<CredentialProvider> = CredentialProviderShape;

export const CreateCredentialProviderShape = lazyObject(() => ({
  /** What it is: `onepassword` is 1Password. */
  provider_type: z.enum(["onepassword"]),
  /** Unique in the organisation, 1 to 255 characters. */
  name: DisplayName,
  /** The service account's token, up to 16,384 characters. It is stored encrypted and never sent back. */
  token: token(),
  /** Seconds for which what it answered may be used again, 0 to 86400. */
  cache_ttl_seconds: z._default(cacheTtl(), 300),
}));
/** What `credentialProviders.create` takes. */
export interface CreateCredentialProvider extends z.input<typeof CreateCredentialProviderShape> {}
export const CreateCredentialProvider: Schema<
  z.output<typeof CreateCredentialProviderShape>,
  CreateCredentialProvider
> = CreateCredentialProviderShape;

export const UpdateCredentialProviderShape = lazyObject(() => ({
  /** The new name, unique in the organisation, 1 to 255 characters. */
  name: z.optional(DisplayName),
  /** Whether it is asked for credentials. */
  enabled: z.optional(z.boolean()),
  /** Providers with lower numbers are asked first. */
  priority: z.optional(priority()),
  /** A new token of the service account, in place of the old one. */
  token: z.optional(token()),
  /** Seconds for which what it answered may be used again, 0 to 86400. */
  cache_ttl_seconds: z.optional(cacheTtl()),
}));
/** What `credentialProviders.update` takes. */
export interface UpdateCredentialProvider extends z.input<typeof UpdateCredentialProviderShape> {}
export const UpdateCredentialProvider: Schema<
  z.output<typeof UpdateCredentialProviderShape>,
  UpdateCredentialProvider
> = UpdateCredentialProviderShape;

export const ListCredentialProvidersShape = lazyObject(() => ({
  ...pageFields,
  /** Part of a name, case does not matter, or a whole id. */
  query: z.optional(z.string()),
}));
/** What `credentialProviders.list` takes. */
export interface ListCredentialProviders extends z.input<typeof ListCredentialProvidersShape> {}
export const ListCredentialProviders: Schema<z.output<typeof ListCredentialProvidersShape>, ListCredentialProviders> = ListCredentialProvidersShape;

export const CredentialProviderItemShape = lazyObject(() => ({
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
/** An entry of a password manager, without its secrets. */
export interface CredentialProviderItem extends z.output<typeof CredentialProviderItemShape> {}
export const CredentialProviderItem: Schema<CredentialProviderItem> = CredentialProviderItemShape;

export const CredentialProviderItemsShape = lazyObject(() => ({
  /** Every item that the token may read. */
  items: z.optional(z.array(CredentialProviderItem)),
}));
/** What a password manager holds. */
export interface CredentialProviderItems extends z.output<typeof CredentialProviderItemsShape> {}
export const CredentialProviderItems: Schema<CredentialProviderItems> = CredentialProviderItemsShape;

export const CredentialProviderTestResultShape = lazyObject(() => ({
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
/** Whether a password manager can be reached, and what its token opens. */
export interface CredentialProviderTestResult extends z.output<typeof CredentialProviderTestResultShape> {}
export const CredentialProviderTestResult: Schema<CredentialProviderTestResult> = CredentialProviderTestResultShape;
