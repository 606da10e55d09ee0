import type { AuthConnection } from "@shoal/schemas";

/** A state of a login as the sign-in page receives it. */
export type SignInState = Partial<AuthConnection>;

const base: AuthConnection = {
  id: "c1",
  domain: "shop.example",
  profile_name: "ada",
  status: "NEEDS_AUTH",
  save_credentials: true,
  record_session: true,
  flow_status: "IN_PROGRESS",
  flow_type: "LOGIN",
};
const asks = { ...base, flow_step: "AWAITING_INPUT", interaction_id: "q1" } as const;
const field = { required: true, reason: "missing" } as const;

/** Every state that the page shows, by name. */
export const signInStates = {
  discovering: { ...base, flow_step: "DISCOVERING" },
  submitting: { ...base, flow_step: "SUBMITTING" },
  login: {
    ...asks,
    fields: [
      { ...field, id: "email", ref: "email", type: "identifier", label: "E-mail address" },
      { ...field, id: "password", ref: "password", type: "password", label: "Password" },
    ],
    choices: [
      { id: "google", type: "sso_provider", label: "Continue with Google" },
      { id: "more", type: "mfa_method", mfa_type: "switch", label: "Sign in another way" },
    ],
  },
  refused: {
    ...asks,
    website_error: "Wrong password. You have 2 attempts left.",
    fields: [
      {
        id: "password",
        ref: "password",
        type: "password",
        label: "Password",
        reason: "rejected",
        hint: "Wrong password. You have 2 attempts left.",
      },
    ],
  },
  code: {
    ...asks,
    fields: [{ ...field, id: "otp", ref: "otp", type: "code", label: "6-digit code", hint: "Sent to •••• 0123" }],
  },
  newPassword: {
    ...asks,
    fields: [
      { ...field, id: "new_password", ref: "new_password", type: "password", label: "New password" },
      { ...field, id: "new_password_2", ref: "new_password_2", type: "password", label: "Repeat it" },
      { ...field, id: "company", ref: "company", type: "text", label: "Company", required: false },
    ],
  },
  factors: {
    ...asks,
    choices: [
      { id: "sms", type: "mfa_method", mfa_type: "sms", label: "Text message", masked_destination: "•••• 0123" },
      { id: "push", type: "mfa_method", mfa_type: "push", label: "Approve in the app" },
      { id: "switch", type: "mfa_method", mfa_type: "switch", label: "I have none of these" },
    ],
  },
  accounts: {
    ...asks,
    choices: [
      { id: "a", type: "account", label: "Ada Lovelace", description: "ada@shop.example" },
      { id: "b", type: "account", label: "Charles Babbage", description: "charles@shop.example" },
    ],
  },
  external: {
    ...base,
    flow_step: "AWAITING_EXTERNAL_ACTION",
    interaction_id: "q2",
    external_action_message: "Open the app and tap 42.",
    choices: [{ id: "other", type: "mfa_method", mfa_type: "switch", label: "Try another way" }],
  },
  success: { ...base, status: "AUTHENTICATED", flow_status: "SUCCESS", flow_step: "COMPLETED" },
  failed: {
    ...base,
    flow_status: "FAILED",
    flow_step: "COMPLETED",
    error_code: "credentials_invalid",
    error_message: "The site refused the password.",
    website_error: "Too many attempts.",
  },
  expired: { ...base, flow_status: "EXPIRED", flow_step: "COMPLETED" },
  canceled: { ...base, flow_status: "CANCELED", flow_step: "COMPLETED" },
} satisfies Readonly<Record<string, SignInState>>;

/** Texts with which a site may try to break the page. */
export const hostileTexts = {
  html: `</label><img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`,
  direction: "\u202Emoc.live\u202E gpj.exe",
  endless: "W".repeat(10_000),
  blank: " \u200B\u2028\n",
};
