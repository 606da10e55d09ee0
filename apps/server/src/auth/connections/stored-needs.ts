/** What the last login that succeeded needed, in `auth_connections.needs`. Contains no values. */
export interface StoredNeeds {
  /** Values that it typed. Each has the names under which one may be stored. */
  readonly values: readonly { readonly name: string; readonly stored_as: readonly string[] }[];
  /** What a person did, and a stored value cannot replace. */
  readonly person: readonly PersonNeed[];
  /** Whether the plan of the login has steps. */
  readonly has_plan: boolean;
}

/** `choice`: of an account, a provider or a way to sign in. */
export type PersonNeed = "sms" | "call" | "email" | "push" | "link" | "captcha" | "choice";
