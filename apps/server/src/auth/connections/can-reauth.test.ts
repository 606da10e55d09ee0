import { expect, it } from "vitest";
import { canReauth, type ReauthFacts, reauthPauseSeconds } from "./can-reauth.ts";
import type { StoredNeeds } from "./stored-needs.ts";

const password = { name: "password", stored_as: ["password"] };
const email = { name: "email", stored_as: ["email", "username"] };
const otp = { name: "otp", stored_as: ["otp"] };
const answer = { name: "security_answer", stored_as: ["security_answer"] };
const plan: StoredNeeds = { values: [email, password], person: [], has_plan: true };
const facts: ReauthFacts = {
  signedIn: true,
  hasProvider: false,
  hasCredential: true,
  storedNames: ["username", "password"],
  needs: plan,
  failures: 0,
  lastFailure: null,
};

it.each<[string, Partial<ReauthFacts>, boolean]>([
  ["viable_plans_found", {}, true],
  ["no_prior_successful_login", { signedIn: false }, false],
  ["no_credential", { hasCredential: false, storedNames: [] }, false],
  ["external_credential", { hasCredential: false, hasProvider: true, storedNames: [] }, true],
  ["has_credential", { needs: null }, true],
  ["no_requirements_recorded", { needs: { values: [], person: [], has_plan: false } }, true],
  ["requirements_satisfiable", { needs: { ...plan, has_plan: false } }, true],
  ["requires_sms_code", { needs: { ...plan, person: ["choice", "sms"] } }, false],
  ["requires_email_code", { needs: { ...plan, person: ["email"] } }, false],
  ["viable_plans_require_external_action", { needs: { ...plan, person: ["push"] } }, false],
  ["requires_external_action", { needs: { values: [], person: ["link"], has_plan: false } }, false],
  ["requires_totp_without_secret", { needs: { ...plan, values: [email, password, otp] } }, false],
  [
    "viable_plans_found",
    { needs: { ...plan, values: [email, password, otp] }, storedNames: ["email", "password", "otp"] },
    true,
  ],
  ["requires_customer_input", { needs: { ...plan, values: [email, otp, answer] } }, false],
  ["requires_customer_input", { storedNames: ["password"] }, false],
  // What a person did before remains necessary with a provider.
  ["requires_sms_code", { hasCredential: false, hasProvider: true, needs: { ...plan, person: ["sms"] } }, false],
])("answers %s for %o", (can_reauth_reason, change, can_reauth) => {
  expect(canReauth({ ...facts, ...change })).toEqual({ can_reauth, can_reauth_reason });
});

it.each([
  ["credentials_invalid", 1, "requires_customer_input"],
  ["website_error", 1, "requires_customer_input"],
  ["captcha_blocked", 1, "requires_external_action"],
  ["unsupported_auth_method", 1, "no_viable_plans"],
  ["login_form_not_found", 2, "viable_plans_found"],
  ["login_form_not_found", 3, "no_viable_plans"],
  ["network_error", 50, "viable_plans_found"],
])("after %s, %i times: %s", (lastFailure, failures, reason) => {
  expect(canReauth({ ...facts, failures, lastFailure }).can_reauth_reason).toBe(reason);
});

it("doubles the pause after each failure, up to a day", () => {
  expect([0, 1, 2, 20].map(reauthPauseSeconds)).toEqual([300, 600, 1200, 86_400]);
});
