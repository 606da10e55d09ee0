import type { FieldKind } from "../reading/field-kinds.ts";
import type { CodeSource, FactorType, WayType } from "../reading/ways.ts";
import type { LoginPlan } from "../plan/plan.ts";

export interface NeededField {
  /** Name of the answer: `email`, `password`, `otp`, `new_password`. */
  readonly name: string;
  /** `link`: the address of a link that the site sent. */
  readonly kind: FieldKind | "link";
  readonly label: string;
  readonly required: boolean;
  /** Of a code, if the page says how it reaches the person. */
  readonly source?: CodeSource;
}

export interface NeededChoice {
  readonly id: string;
  readonly type: WayType;
  readonly label: string;
  readonly provider?: string;
  readonly factor?: FactorType | "switch";
  readonly target?: string;
}

/** What a login needs from a person. */
export interface LoginNeed {
  readonly kind: "needs";
  readonly fields: readonly NeededField[];
  readonly choices: readonly NeededChoice[];
  /** What to do outside of the form, in the site's words. Call `run` again to look whether it is done. */
  readonly external?: { readonly type: "captcha" | "link" | "push"; readonly message: string };
  /** The site's words about refused answers. */
  readonly refused?: string;
}

/** Codes of `ManagedAuthError`. */
export type LoginFailureCode =
  | "login_form_not_found"
  | "domain_not_allowed"
  | "stuck_in_loop"
  | "website_error"
  | "network_error"
  | "element_not_found"
  | "credentials_invalid"
  | "unsupported_auth_method"
  | "bot_detected"
  | "max_steps_exceeded"
  | "navigation_confused";

export type LoginOutcome =
  | { readonly kind: "signed_in"; readonly url: string; readonly plan: LoginPlan }
  | LoginNeed
  | { readonly kind: "failed"; readonly code: LoginFailureCode; readonly message: string };

/** Answers of a person; values by the names of fields, or the id of a choice. */
export interface LoginAnswers {
  readonly values?: Readonly<Record<string, string>>;
  readonly choice?: string;
}

/** Serializable; contains no values. */
export interface LoginState {
  readonly started: boolean;
  readonly steps: number;
  readonly seen: Readonly<Record<string, number>>;
  /** Names of stored values that were used. */
  readonly used: readonly string[];
  readonly pressed: readonly string[];
  readonly waits: number;
  readonly sent?: {
    readonly signature: string;
    readonly kinds: readonly FieldKind[];
    readonly message?: string;
    readonly texts: readonly string[];
    readonly isStored: boolean;
  };
  readonly plan: LoginPlan;
}

export function fail(code: LoginFailureCode, message: string): LoginOutcome {
  return { kind: "failed", code, message };
}
