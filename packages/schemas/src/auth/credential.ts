import * as z from "zod/mini";
import { DisplayName, pageFields, Timestamp } from "../base/common.ts";
import { checkedLater, maxEntries } from "../base/rules.ts";
import { siteName } from "../base/site-name.ts";
import { checked, lazyObject, noNul } from "../base/schema.ts";

/** Up to 100 secret values by name. */
const credentialValues = () =>
  checked(
    z.record(checked(z.string(), z.minLength(1), z.maxLength(255)), checked(z.string(), z.maxLength(65_536))),
    maxEntries(100, "values"),
  );
const sites = () => checked(z.array(domain()), z.maxLength(50));
const domain = () => checked(z.string(), z.minLength(1), z.maxLength(253), siteName());

const totpFields = () => ({
  /** How one-time codes are generated; an `otpauth://` URI that names it takes precedence. `SHA1` when absent. Needs `totp_secret`. */
  totp_algorithm: z.optional(z.enum(["SHA1", "SHA256", "SHA512"])),
  /** Digits of a one-time code, 6 to 8; an `otpauth://` URI that names them takes precedence. 6 when absent. Needs `totp_secret`. */
  totp_digits: z.optional(checked(z.int(), z.minimum(6), z.maximum(8))),
  /** Seconds for which a one-time code is valid, 1 to 300; an `otpauth://` URI that names them takes precedence. 30 when absent. Needs `totp_secret`. */
  totp_period: z.optional(checked(z.int(), z.minimum(1), z.maximum(300))),
});

/** Base32 or an `otpauth://totp/` URI. */
const base32 = () =>
  checkedLater({
    keywords: { pattern: "^(?:[A-Za-z2-7 -]*[= ]*|[Oo][Tt][Pp][Aa][Uu][Tt][Hh]://[Tt][Oo][Tt][Pp]/.*)$" },
  });
/** Settings of one-time codes need a secret that is not empty. */
const codesNeedSecret = () =>
  checkedLater<object>({
    keywords: {
      if: { anyOf: ["totp_algorithm", "totp_digits", "totp_period"].map((field) => ({ required: [field] })) },
      then: { required: ["totp_secret"], properties: { totp_secret: { minLength: 1 } } },
    },
  });

/** The values that a person signs in with on a site. Secrets are stored encrypted and never returned. */
export interface Credential extends z.output<typeof Credential> {}
export const Credential = lazyObject(() => ({
  /** Stable identifier. */
  id: z.string(),
  /** Unique in the project. */
  name: z.string(),
  /** The site that it is for, in lower case: `example.com`. */
  domain: z.string(),
  /** Further sites on which its values may be typed. */
  sites: z.optional(z.array(z.string())),
  /** Creation time. */
  created_at: Timestamp,
  /** When it was last changed. */
  updated_at: Timestamp,
  /** Whether any values are stored. */
  has_values: z.optional(z.boolean()),
  /** Whether it can create one-time codes. */
  has_totp_secret: z.optional(z.boolean()),
  /** Names of the stored values; lists leave them out. The values themselves are never sent. */
  value_keys: z.optional(z.array(z.string())),
  /** Sign-in provider that the login starts with: `google`, `github` or `microsoft`; `null` = the site's own form. */
  sso_provider: z.optional(z.nullable(z.string())),
  /** A one-time code, to verify a new secret; only in the answer to the call that set `totp_secret`. */
  totp_code: z.optional(z.string()),
  /** When `totp_code` stops being valid. */
  totp_code_expires_at: z.optional(Timestamp),
}));

/** Input of `credentials.create`. */
export interface CreateCredential extends z.input<typeof CreateCredential> {}
export const CreateCredential = z.lazy(() =>
  checked(
    z.object({
      /** Unique in the project, 1 to 255 characters. */
      name: DisplayName,
      /** The site that it is for, 1 to 253 characters: `example.com`, or `localhost:3000` for a site with a port. */
      domain: domain(),
      /** Further sites on which its values may be typed, each with its subdomains: up to 50, for example `login.example.com`. Logins type the values on its domain, on these sites and on the page of its sign-in provider only. */
      sites: z.optional(sites()),
      /** The secrets by name, `username` and `password` for example: up to 100 of 65,536 characters, names of 1 to 255. */
      values: credentialValues(),
      /** Secret of one-time codes (RFC 6238), Base32 or an `otpauth://totp/` URI with its digits, period and algorithm. Case, spaces and hyphens do not matter. */
      totp_secret: z.optional(checked(z.string(), z.maxLength(1024), base32())),
      ...totpFields(),
      /** Sign-in provider that the login starts with, for example `google`, `github` or `microsoft`; absent = the site's own form. */
      sso_provider: z.optional(checked(z.string(), z.maxLength(255), noNul())),
    }),
    codesNeedSecret(),
  ),
);

/** Input of `credentials.update`. */
export interface UpdateCredential extends z.input<typeof UpdateCredential> {}
export const UpdateCredential = z.lazy(() =>
  checked(
    z.object({
      /** The new name, unique in the project, 1 to 255 characters. */
      name: z.optional(DisplayName),
      /** Values to add or to replace; the others stay. */
      values: z.optional(credentialValues()),
      /** The further sites on which its values may be typed, in place of the old ones: up to 50, such as `login.example.com`. */
      sites: z.optional(sites()),
      /** Names of values to remove, up to 100, before `values` are added. Unknown names are ignored. */
      remove_value_keys: z.optional(
        checked(z.array(checked(z.string(), z.minLength(1), z.maxLength(255), noNul())), z.maxLength(100)),
      ),
      /** New secret of one-time codes, Base32 or an `otpauth://totp/` URI; an empty text removes it. */
      totp_secret: z.optional(checked(z.string(), z.maxLength(1024), base32())),
      ...totpFields(),
      /** Sign-in provider that the login starts with; `null` or an empty text = the site's own form. */
      sso_provider: z.optional(z.nullable(checked(z.string(), z.maxLength(255), noNul()))),
    }),
    codesNeedSecret(),
  ),
);

/** Input of `credentials.list`. */
export interface ListCredentials extends z.input<typeof ListCredentials> {}
export const ListCredentials = lazyObject(() => ({
  ...pageFields,
  /** Only credentials for exactly this domain. */
  domain: z.optional(z.string()),
  /** Part of a name or domain, case does not matter, or a whole id. */
  query: z.optional(z.string()),
}));

/** A one-time code for the second step of a login. */
export interface TotpCode extends z.output<typeof TotpCode> {}
export const TotpCode = lazyObject(() => ({
  /** The code: 6 digits, unless the URI of its secret says 7 or 8. */
  code: z.string(),
  /** When it stops being valid. */
  expires_at: Timestamp,
}));
