import * as z from "zod/mini";
import { checked, lazyObject } from "./schema.ts";

/** A value of a stored credential, which the service uses and never returns. */
export interface StoredSecret extends z.input<typeof StoredSecret> {}
export const StoredSecret = lazyObject(() => ({
  /** The id or the name of a credential of the session's project. */
  credential: checked(z.string(), z.minLength(1), z.maxLength(255)),
  /** The name of one of its values, such as `username` or `password`; `totp_code` for a one-time code that is valid now. */
  field: checked(z.string(), z.minLength(1), z.maxLength(255)),
}));
