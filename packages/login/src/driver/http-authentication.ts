import { isAmongHosts, isAmongOrigins, type PageAct, type SettledPage } from "@shoal/instance";
import { notForSite } from "./form-filler.ts";
import { fail, type LoginOutcome } from "./outcome.ts";
import type { StoredValues } from "./values.ts";

/** In place of a page's signature: values were sent with HTTP authentication. */
export const ofAuthentication = "";

export const isFailure = ({ status = 200 }: SettledPage): boolean => status >= 400;

interface AnswerOptions {
  readonly hosts: readonly string[];
  readonly values: StoredValues;
  readonly storedOrigins?: readonly string[] | undefined;
  /** By a person. */
  readonly answers: Readonly<Record<string, string>>;
  /** Stored values were sent before. */
  readonly hasFailed: boolean;
}

interface Answer {
  readonly isStored: boolean;
  readonly act: Pick<Extract<PageAct, { kind: "authenticate" }>, "username" | "password" | "origins">;
}

/** The values for HTTP authentication, or why the login has no values. */
export async function answerTo(
  challenge: SettledPage["challenge"],
  { answers, hasFailed, hosts, storedOrigins, values }: AnswerOptions,
): Promise<Answer | LoginOutcome> {
  const { host = "", origin } = challenge ?? {};
  if (!isAmongHosts(host, hosts)) return fail("domain_not_allowed", `${host} requires a password, and is not allowed.`);
  const isAnswered = answers.username !== undefined && answers.password !== undefined;
  if (hasFailed && !isAnswered) return fail("credentials_invalid", "The site refused the user name or the password.");
  const stored = async (name: string) => (hasFailed ? undefined : values(name, 1));
  const username = answers.username ?? (await stored("username")) ?? (await stored("email"));
  const password = answers.password ?? (await stored("password"));
  if (username === undefined || password === undefined)
    return {
      kind: "needs",
      fields: (["username", "password"] as const).map((kind) => ({
        name: kind,
        kind,
        label: kind === "username" ? "User name" : "Password",
        required: true,
      })),
      choices: [],
    };
  if (isAnswered || storedOrigins === undefined) return { isStored: !isAnswered, act: { username, password } };
  // Nothing would be sent, and the challenge would come again.
  if (origin !== undefined && !isAmongOrigins(origin, storedOrigins))
    return fail("domain_not_allowed", notForSite(origin));
  return { isStored: true, act: { username, password, origins: [...storedOrigins] } };
}
