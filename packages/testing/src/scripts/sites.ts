import type { AskedChoice } from "@shoal/contract/logins";

/** A field of a site. Its name says what it is for. */
export interface FakeField {
  /** `username`, `email`, `phone`, `password`, `new_password`, `otp`, `organization`, `link` or another name for a text. */
  readonly name: string;
  /** The site's words; default from the name. */
  readonly label?: string;
  /** Default `true`. */
  readonly required?: boolean;
}

/** A page of a site, and everything that it offers. */
export interface FakeQuestion {
  /** Names are fields with default labels. */
  readonly fields?: readonly (string | FakeField)[];
  readonly choices?: readonly AskedChoice[];
  /** An action elsewhere, in the site's words. `fake.completeAction` completes it. */
  readonly external?: string;
  /** The site's words about the last answer. */
  readonly refused?: string;
}

/** A person's answer to a question of a scripted login. */
export interface FakeAnswer {
  /** By the names of the fields; empty after a choice or an action elsewhere. */
  readonly values: Readonly<Record<string, string>>;
  /** The id of the choice. */
  readonly choice?: string;
}

/** A login of a connection in the fake. */
export interface FakeLogin {
  readonly connection_id: string;
  readonly domain: string;
  readonly profile_name: string;
  /** Aborted when the login ends, also by a cancellation or a timeout. */
  readonly signal: AbortSignal;
  /**
   * Fills the fields from the connection's credential, and asks a person for the rest. A refused stored value fails the
   * login, as in the service; only a one-time code is tried twice.
   */
  ask(question: FakeQuestion): Promise<FakeAnswer>;
  /** Ends the login with an `error_code`, for example `bot_detected`. */
  fail(code: string, message?: string): never;
}

/**
 * Signs in; an exception fails the login.
 * @returns where the browser is after the login; default the home page of the domain.
 */
export type FakeSite = (login: FakeLogin) => Promise<string | undefined> | string | undefined;

/** Accepts any user name and password. */
export const defaultSite: FakeSite = async (login) => {
  await login.ask({ fields: ["username", "password"] });
  return undefined;
};
