import * as z from "zod/mini";
import { lazyObject, openEnum, type Schema } from "./schema.ts";

const mfaType = () => openEnum("sms", "call", "email", "totp", "push", "password", "switch");

export const AuthFieldShape = lazyObject(() => ({
  /** What `field_values` of `auth.connections.submit` calls it; the same for as long as the field is asked for. */
  id: z.string(),
  /** Name of the credential's value that it is filled from and stored under. */
  ref: z.string(),
  /** What to enter: who one is, a password, a code that was sent, a code of a generator or the generator's secret, or another text. */
  type: openEnum("identifier", "password", "code", "totp_code", "totp_secret", "text"),
  /** Why it is asked for: no value was known, or the site refused the known one. Services of other versions leave it out. */
  reason: z.optional(openEnum("missing", "rejected")),
  /** The site's own words for it. */
  label: z.optional(z.string()),
  /** More of the site's words: a format, where a code was sent to. */
  hint: z.optional(z.string()),
  /** Whether it must be filled; it must when this is absent. */
  required: z.optional(z.boolean()),
  /** Where it stands on the page, for people who look for a fault. */
  observed_selector: z.optional(z.nullable(z.string())),
}));
/** A text that a login waits for. */
export interface AuthField extends z.output<typeof AuthFieldShape> {}
export const AuthField: Schema<AuthField> = AuthFieldShape;

export const AuthChoiceShape = lazyObject(() => ({
  /** What `selected_choice_id` of `auth.connections.submit` calls it; the same for as long as the choice is offered. */
  id: z.string(),
  /** What is chosen: a second factor, a provider, a way to sign in, an account, … */
  type: openEnum("mfa_method", "sso_provider", "sign_in_method", "auth_method", "identifier_method", "account", "other"),
  /** The site's own words for it. */
  label: z.string(),
  /** The label together with what tells it from the others, to be shown to people. */
  display_text: z.optional(z.string()),
  /** What stands beside it on the page. */
  context: z.optional(z.string()),
  /** More of the site's words. */
  description: z.optional(z.nullable(z.string())),
  /** Of a second factor: what it is. */
  mfa_type: z.optional(openEnum("sms", "call", "email", "totp", "push", "password", "passkey", "switch", "other")),
  /** Of a second factor: where a code goes, partly hidden. */
  masked_destination: z.optional(z.string()),
  /** Where it stands on the page, for people who look for a fault. */
  observed_selector: z.optional(z.nullable(z.string())),
}));
/** One of the ways that a login can go on. */
export interface AuthChoice extends z.output<typeof AuthChoiceShape> {}
export const AuthChoice: Schema<AuthChoice> = AuthChoiceShape;

export const DiscoveredFieldShape = lazyObject(() => ({
  /** What `fields` of `auth.connections.submit` calls it. */
  name: z.string(),
  /** What to enter. */
  type: openEnum("text", "email", "password", "tel", "number", "url", "code", "totp"),
  /** The site's own words for it. */
  label: z.string(),
  /** What the empty field shows. */
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
/** A field of a login page, as older clients take it; newer ones take {@link AuthField}. */
export interface DiscoveredField extends z.output<typeof DiscoveredFieldShape> {}
export const DiscoveredField: Schema<DiscoveredField> = DiscoveredFieldShape;

export const MfaOptionShape = lazyObject(() => ({
  /** What it is; `switch` leads to other methods. */
  type: mfaType(),
  /** The site's own words for it. */
  label: z.string(),
  /** Where a code goes, partly hidden. */
  target: z.optional(z.nullable(z.string())),
  /** More of the site's words. */
  description: z.optional(z.nullable(z.string())),
}));
/** A second factor that a site offers, as older clients take it; newer ones take {@link AuthChoice}. */
export interface MfaOption extends z.output<typeof MfaOptionShape> {}
export const MfaOption: Schema<MfaOption> = MfaOptionShape;

export const SignInOptionShape = lazyObject(() => ({
  /** What `sign_in_option_id` of `auth.connections.submit` calls it. */
  id: z.string(),
  /** The site's own words for it. */
  label: z.string(),
  /** More of the site's words: an address, an organisation. */
  description: z.optional(z.nullable(z.string())),
}));
/** An account or organisation to sign in to, as older clients take it; newer ones take {@link AuthChoice}. */
export interface SignInOption extends z.output<typeof SignInOptionShape> {}
export const SignInOption: Schema<SignInOption> = SignInOptionShape;

export const SsoButtonShape = lazyObject(() => ({
  /** XPath of the button. */
  selector: z.string(),
  /** Whose button it is: `google`. */
  provider: z.string(),
  /** The site's own words on it. */
  label: z.string(),
}));
/** A button that signs in through another site, as older clients take it; newer ones take {@link AuthChoice}. */
export interface SsoButton extends z.output<typeof SsoButtonShape> {}
export const SsoButton: Schema<SsoButton> = SsoButtonShape;
