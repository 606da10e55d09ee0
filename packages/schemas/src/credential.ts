import * as z from "zod/mini";
import { DisplayName, pageFields, Timestamp } from "./common.ts";
import { checked, lazyObject, type Schema } from "./schema.ts";

/** Up to 100 secret values by name. */
const credentialValues = () =>
  checked(
    z.record(checked(z.string(), z.minLength(1), z.maxLength(255)), checked(z.string(), z.maxLength(65_536))),
    z.refine((values) => Object.keys(values).length <= 100, "at most 100 values"),
  );
/** A domain name without scheme, port and path. */
const domain = () => checked(z.string(), z.minLength(1), z.maxLength(253));

export const CredentialShape = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** Unique in the project. */
  name: z.string(),
  /** The site that it is for: `example.com`. */
  domain: z.string(),
  /** When it was made. */
  created_at: Timestamp,
  /** When it was last changed. */
  updated_at: Timestamp,
  /** Whether any values are stored. */
  has_values: z.optional(z.boolean()),
  /** Whether one-time codes can be made from it. */
  has_totp_secret: z.optional(z.boolean()),
  /** Names of the stored values; lists leave them out. The values themselves are never sent. */
  value_keys: z.optional(z.array(z.string())),
  /** Whose button the login begins with, `google`, `github` or `microsoft`; `null` = the site's own form. */
  sso_provider: z.optional(z.nullable(z.string())),
  /** A one-time code of 6 digits, to check a new secret against; only in the answer to the call that set `totp_secret`. */
  totp_code: z.optional(z.string()),
  /** When `totp_code` stops being valid. */
  totp_code_expires_at: z.optional(Timestamp),
}));
/** What a person signs in with on a site. Its secrets are stored encrypted and never sent back. */
export interface Credential extends z.output<typeof CredentialShape> {}
export const Credential: Schema<Credential> = CredentialShape;

export const CreateCredentialShape = lazyObject(() => ({
  /** Unique in the project, 1 to 255 characters. */
  name: DisplayName,
  /** The site that it is for, 1 to 253 characters: `example.com`. */
  domain: domain(),
  /** The secrets by name, `username` and `password` for example: up to 100 of 65,536 characters, names of 1 to 255. */
  values: credentialValues(),
  /** Secret of a one-time code generator, Base32. */
  totp_secret: z.optional(checked(z.string(), z.maxLength(1024))),
  /** Whose button the login begins with, `google`, `github` or `microsoft` for example; absent = the site's own form. */
  sso_provider: z.optional(checked(z.string(), z.maxLength(255))),
}));
/** What `credentials.create` takes. */
export interface CreateCredential extends z.input<typeof CreateCredentialShape> {}
export const CreateCredential: Schema<z.output<typeof CreateCredentialShape>, CreateCredential> = CreateCredentialShape;

export const UpdateCredentialShape = lazyObject(() => ({
  /** The new name, unique in the project, 1 to 255 characters. */
  name: z.optional(DisplayName),
  /** Values to add or to replace; the others stay. */
  values: z.optional(credentialValues()),
  /** Names of values to forget, up to 100; done before `values` are added. */
  remove_value_keys: z.optional(checked(z.array(checked(z.string(), z.minLength(1), z.maxLength(255))), z.maxLength(100))),
  /** New secret of the one-time code generator, Base32, spaces ignored; an empty text takes it away. */
  totp_secret: z.optional(checked(z.string(), z.maxLength(1024))),
  /** Whose button the login begins with; `null` or an empty text = the site's own form. */
  sso_provider: z.optional(z.nullable(checked(z.string(), z.maxLength(255)))),
}));
/** What `credentials.update` takes. */
export interface UpdateCredential extends z.input<typeof UpdateCredentialShape> {}
export const UpdateCredential: Schema<z.output<typeof UpdateCredentialShape>, UpdateCredential> = UpdateCredentialShape;

export const ListCredentialsShape = lazyObject(() => ({
  ...pageFields,
  /** Those for this domain only. */
  domain: z.optional(z.string()),
  /** Part of a name or domain, case does not matter, or a whole id. */
  query: z.optional(z.string()),
}));
/** What `credentials.list` takes. */
export interface ListCredentials extends z.input<typeof ListCredentialsShape> {}
export const ListCredentials: Schema<z.output<typeof ListCredentialsShape>, ListCredentials> = ListCredentialsShape;

export const TotpCodeShape = lazyObject(() => ({
  /** The code, 6 digits. */
  code: z.string(),
  /** When it stops being valid. */
  expires_at: Timestamp,
}));
/** A one-time code for the second step of a login. */
export interface TotpCode extends z.output<typeof TotpCodeShape> {}
export const TotpCode: Schema<TotpCode> = TotpCodeShape;
