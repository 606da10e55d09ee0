import * as z from "zod/mini";
import { lazyObject, openEnum } from "../base/schema.ts";

const mfaType = () => openEnum("sms", "call", "email", "totp", "push", "password", "switch");

/** A text that a login waits for. */
export interface AuthField extends z.output<typeof AuthField> {}
export const AuthField = lazyObject(() => ({
  /** Key of the field in `field_values` of `auth.connections.submit`. Stable while the login waits for the field. */
  id: z.string(),
  /** Name of the credential's value that it is filled from and stored under. */
  ref: z.string(),
  /** Kind of value: a user name, a password, a code that was sent, a code of a generator, the generator's secret, or other text. */
  type: openEnum("identifier", "password", "code", "totp_code", "totp_secret", "text"),
  /** Reason for the question: no value is stored, or the site rejected it. Other service versions may omit it. */
  reason: z.optional(openEnum("missing", "rejected")),
  /** The site's own words for it. */
  label: z.optional(z.string()),
  /** More of the site's words: a format, where a code was sent to. */
  hint: z.optional(z.string()),
  /** Whether it must be filled; it must when this is absent. */
  required: z.optional(z.boolean()),
  /** Its place on the page, for debugging. */
  observed_selector: z.optional(z.nullable(z.string())),
}));

/** A way to continue a login. */
export interface AuthChoice extends z.output<typeof AuthChoice> {}
export const AuthChoice = lazyObject(() => ({
  /** Value for `selected_choice_id` of `auth.connections.submit`. Stable while the choice is offered. */
  id: z.string(),
  /** Kind of choice: a second factor, a provider, a way to sign in, an account, … */
  type: openEnum(
    "mfa_method",
    "sso_provider",
    "sign_in_method",
    "auth_method",
    "identifier_method",
    "account",
    "other",
  ),
  /** The site's own words for it. */
  label: z.string(),
  /** Label for people, different from those of the other choices. */
  display_text: z.optional(z.string()),
  /** Text next to it on the page. */
  context: z.optional(z.string()),
  /** More of the site's words. */
  description: z.optional(z.nullable(z.string())),
  /** Kind of second factor. */
  mfa_type: z.optional(openEnum("sms", "call", "email", "totp", "push", "password", "passkey", "switch", "other")),
  /** Of a second factor: where a code goes, partly hidden. */
  masked_destination: z.optional(z.string()),
  /** Its place on the page, for debugging. */
  observed_selector: z.optional(z.nullable(z.string())),
}));

/** A field of a login page, as older clients take it; newer ones take {@link AuthField}. */
export interface DiscoveredField extends z.output<typeof DiscoveredField> {}
export const DiscoveredField = lazyObject(() => ({
  /** Key of the field in `fields` of `auth.connections.submit`. */
  name: z.string(),
  /** Kind of value. */
  type: openEnum("text", "email", "password", "tel", "number", "url", "code", "totp"),
  /** The site's own words for it. */
  label: z.string(),
  /** Placeholder text. */
  placeholder: z.optional(z.string()),
  /** Whether it must be filled; it must when this is absent. */
  required: z.optional(z.boolean()),
  /** CSS selector. */
  selector: z.string(),
  /** The second factor that it belongs to. */
  linked_mfa_type: z.optional(z.nullable(mfaType())),
  /** More of the site's words. */
  hint: z.optional(z.string()),
}));

/** A second factor that a site offers, as older clients take it; newer ones take {@link AuthChoice}. */
export interface MfaOption extends z.output<typeof MfaOption> {}
export const MfaOption = lazyObject(() => ({
  /** Kind of option; `switch` leads to other methods. */
  type: mfaType(),
  /** The site's own words for it. */
  label: z.string(),
  /** Where a code goes, partly hidden. */
  target: z.optional(z.nullable(z.string())),
  /** More of the site's words. */
  description: z.optional(z.nullable(z.string())),
}));

/** An account or organisation to sign in to, as older clients take it; newer ones take {@link AuthChoice}. */
export interface SignInOption extends z.output<typeof SignInOption> {}
export const SignInOption = lazyObject(() => ({
  /** Value for `sign_in_option_id` of `auth.connections.submit`. */
  id: z.string(),
  /** The site's own words for it. */
  label: z.string(),
  /** More of the site's words: an address, an organisation. */
  description: z.optional(z.nullable(z.string())),
}));

/** A button that signs in through another site, as older clients take it; newer ones take {@link AuthChoice}. */
export interface SsoButton extends z.output<typeof SsoButton> {}
export const SsoButton = lazyObject(() => ({
  /** XPath of the button. */
  selector: z.string(),
  /** Provider of the button: `google`. */
  provider: z.string(),
  /** The site's own words on it. */
  label: z.string(),
}));
