export { checkSignedIn, type CheckOptions } from "./check/check-signed-in.ts";
export { judgeCheck, type CheckedPlan, type CheckVerdict, type UnknownCode } from "./check/judge-check.ts";
export { allowedHosts, isSharedHost, providerHosts } from "./driver/hosts.ts";
export { Login, type LoginOptions } from "./driver/login.ts";
export type { LoginPage } from "./driver/login-page.ts";
export type {
  LoginAnswers,
  LoginFailureCode,
  LoginNeed,
  LoginOutcome,
  LoginState,
  NeededChoice,
  NeededField,
} from "./driver/outcome.ts";
export { storedNamesFor, type StoredValues, valueFor } from "./driver/values.ts";
export type { LoginPlan, Locator, PlanStep } from "./plan/plan.ts";
export type { FieldKind } from "./reading/field-kinds.ts";
export type { ReadField, ReadForm } from "./reading/forms.ts";
export { type LoginModel, type PageReading, readPage } from "./reading/read-page.ts";
export { type PageSight, readSight } from "./reading/read-sight.ts";
export type { CodeSource, ReadWay } from "./reading/ways.ts";
export { judge, type Sent, type Verdict } from "./verdict/judge.ts";
