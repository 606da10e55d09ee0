import { checked, lazyObject } from "@shoal/schemas";
import * as z from "zod/mini";

/** Names the offered secret of a request. Clients cannot send this header. */
export const secretTicketHeader = "x-shoal-secret-ticket";

/** Limit of a value of a credential. */
const maxSecretCharacters = 65_536;
const Line = () => checked(z.string(), z.minLength(1), z.maxLength(300));

export const secretValue = () => checked(z.string(), z.minLength(1), z.maxLength(maxSecretCharacters));

/** Where a stored value may be typed. */
export const secretPlace = () => ({
  /** The origins on which it may be typed: see `isAmongOrigins`. */
  origins: checked(z.array(Line()), z.minLength(1), z.maxLength(400)),
  /** For errors: the name of the credential, and its sites. */
  credential: Line(),
  sites: checked(z.array(Line()), z.minLength(1), z.maxLength(200)),
});

/** A stored value for one action, which follows with the ticket in its header. */
export interface OfferedSecret extends z.output<typeof OfferedSecret> {}
export const OfferedSecret = lazyObject(() => ({
  ticket: checked(z.string(), z.minLength(16), z.maxLength(64)),
  value: secretValue(),
  ...secretPlace(),
}));
