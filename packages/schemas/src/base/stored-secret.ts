import * as z from "zod/mini";
import { exactlyOne } from "./rules.ts";
import { checked, lazyObject } from "./schema.ts";

/** A value of a stored credential, which the service uses and never returns. */
export interface StoredSecret extends z.input<typeof StoredSecret> {}
export const StoredSecret = lazyObject(() => ({
  /** The id or the name of a credential of the session's project. */
  credential: checked(z.string(), z.minLength(1), z.maxLength(255)),
  /** The name of one of its values, such as `username` or `password`; `totp_code` for a one-time code that is valid now. */
  field: checked(z.string(), z.minLength(1), z.maxLength(255)),
}));

/** A vault of the project, by id or by name. */
export interface VaultRef extends z.input<typeof VaultRef> {}
export const VaultRef = z.lazy(() =>
  checked(
    z.object({
      /** The vault's id; pass either this or `name`. */
      id: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
      /** The vault's name; pass either this or `id`. */
      name: z.optional(checked(z.string(), z.minLength(1), z.maxLength(255))),
    }),
    exactlyOne("id", "name"),
  ),
);

/** A vault whose items can be used in a session. */
export interface BrowserVault extends z.output<typeof BrowserVault> {}
export const BrowserVault = lazyObject(() => ({
  /** The vault's id. */
  id: z.optional(z.string()),
  /** The vault's name. */
  name: z.optional(z.string()),
}));
