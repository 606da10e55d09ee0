import type { Answer } from "./submitted-answer.ts";

const maxNameLength = 120;

/** The values that a person entered during a login, without one-time values. */
export class EnteredValues {
  readonly #values = new Map<string, string>();

  /** Remembers the values of an answer that work again. */
  add(answer: Answer): void {
    if (!("values" in answer)) return;
    for (const [name, value] of Object.entries(answer.values))
      if (!/^(otp|link)(_\d+)?$/.test(name) && value !== "") this.#values.set(name, value);
  }

  /** Values for a credential. A changed password replaces the old one. */
  lasting(): Record<string, string> {
    const { new_password: changed, ...values } = Object.fromEntries(
      [...this.#values].filter(([name]) => !/^new_password_\d+$/.test(name)),
    );
    return changed === undefined ? values : { ...values, password: changed };
  }
}

/** Name of the credential that a login creates for entered values. */
export function nameOfEntered(profileName: string | null, domain: string): string {
  return Array.from(`${profileName ?? "profile"}-${domain}`)
    .slice(0, maxNameLength)
    .join("");
}
