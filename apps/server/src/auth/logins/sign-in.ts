import {
  type CheckOptions,
  checkSignedIn,
  type CheckVerdict,
  Login,
  type LoginOptions,
  type LoginPage,
} from "@shoal/login";
import type { ConnectionRow } from "../connections/connection-row.ts";

/** The connection whose profile is open, until `signal` aborts. */
export interface SignInTarget {
  readonly connection: Pick<ConnectionRow, "domain" | "id" | "profile_id" | "profile_name">;
  readonly signal: AbortSignal;
}

/** Signs in to a site, and looks whether a profile still is. Around it, the rules of logins and checks are the same. */
export interface SignIn {
  /** Returns a login that has not started. The service asks a person for what it needs, and runs it on. */
  login(options: LoginOptions, target: SignInTarget): Pick<Login, "run" | "state">;
  /** Looks whether the profile of the page is signed in. */
  check(page: LoginPage, options: CheckOptions, target: SignInTarget): Promise<CheckVerdict>;
}

/** With the pages of the browser. */
export const signInByPages: SignIn = {
  login: (options) => new Login(options),
  check: (page, options) => checkSignedIn(page, options),
};
