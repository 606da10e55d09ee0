import type { AuthConnection } from "@shoal/schemas";
import type { StoredNeeds } from "./stored-needs.ts";

export interface ReauthFacts {
  readonly signedIn: boolean;
  readonly hasProvider: boolean;
  readonly hasCredential: boolean;
  /** Names of the credential's values; `otp` if it has a secret for one-time codes. */
  readonly storedNames: readonly string[];
  readonly needs: StoredNeeds | null;
  /** Automatic logins since the last success or change that failed. */
  readonly failures: number;
  /** `error_code` of the latest of them. */
  readonly lastFailure: string | null;
}

type Reason = NonNullable<AuthConnection["can_reauth_reason"]>;

/** The site did not accept the stored values, or required more: repetitions could lock the account. */
const needsCustomer: ReadonlySet<string> = new Set([
  "awaiting_input_timeout",
  "credentials_invalid",
  "mfa_required",
  "website_error",
]);
const needsAction: ReadonlySet<string> = new Set([
  "captcha_blocked",
  "external_action_required",
  "external_action_timeout",
]);
/** Other settings or a person may help, a repetition does not. */
const needsChange: ReadonlySet<string> = new Set(["domain_not_allowed", "unsupported_auth_method"]);
/** The engine did not understand the site. */
const lostWay: ReadonlySet<string> = new Set([
  "element_not_found",
  "login_form_not_found",
  "max_steps_exceeded",
  "navigation_confused",
  "stuck_in_loop",
]);
const maxLostWays = 3;

/** Whether the service can sign in without a person, and why. The first reason that applies counts. */
export function canReauth(facts: ReauthFacts): { readonly can_reauth: boolean; readonly can_reauth_reason: Reason } {
  const against = reasonAgainst(facts);
  return against === undefined
    ? { can_reauth: true, can_reauth_reason: reasonFor(facts) }
    : { can_reauth: false, can_reauth_reason: against };
}

function reasonAgainst(facts: ReauthFacts): Reason | undefined {
  const { hasCredential, hasProvider, needs, signedIn, storedNames } = facts;
  if (!signedIn) return "no_prior_successful_login";
  if (!hasCredential && !hasProvider) return "no_credential";
  const failed = reasonAfterFailure(facts);
  if (failed !== undefined) return failed;
  if (needs === null) return undefined;
  if (needs.person.includes("sms")) return "requires_sms_code";
  if (needs.person.includes("email")) return "requires_email_code";
  if (needs.person.length > 0)
    return needs.has_plan ? "viable_plans_require_external_action" : "requires_external_action";
  // A provider is asked at the login.
  if (hasProvider) return undefined;
  const missing = needs.values.filter(({ stored_as }) => !stored_as.some((name) => storedNames.includes(name)));
  if (missing.length === 0) return undefined;
  return missing.every(({ stored_as }) => stored_as.includes("otp"))
    ? "requires_totp_without_secret"
    : "requires_customer_input";
}

function reasonAfterFailure({ failures, lastFailure }: ReauthFacts): Reason | undefined {
  if (lastFailure === null) return undefined;
  if (needsCustomer.has(lastFailure)) return "requires_customer_input";
  if (needsAction.has(lastFailure)) return "requires_external_action";
  const isHopeless = needsChange.has(lastFailure) || (lostWay.has(lastFailure) && failures >= maxLostWays);
  return isHopeless ? "no_viable_plans" : undefined;
}

function reasonFor({ hasProvider, needs }: ReauthFacts): Reason {
  if (hasProvider) return "external_credential";
  if (needs === null) return "has_credential";
  if (needs.has_plan) return "viable_plans_found";
  return needs.values.length === 0 ? "no_requirements_recorded" : "requirements_satisfiable";
}

const firstPauseSeconds = 300;
const longestPauseSeconds = 86_400;

/** Seconds from the start of an automatic login to the next one, if it fails. @param failures - before it. */
export function reauthPauseSeconds(failures: number): number {
  return Math.min(longestPauseSeconds, firstPauseSeconds * 2 ** failures);
}
