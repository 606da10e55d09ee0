import type { FieldKind } from "../reading/field-kinds.ts";
import type { ReadField } from "../reading/forms.ts";

/**
 * Returns a stored value by its kind or name, or `undefined`. It is called at the moment of typing.
 * @param attempt - 1, or 2 for a fresh code after the first was refused.
 */
export type StoredValues = (name: string, attempt: number) => Promise<string | undefined>;

/** Names under which a value for a kind may be stored, the best first. */
const namesOfKind: Readonly<Record<FieldKind, readonly string[]>> = {
  username: ["username", "email", "login", "user", "phone"],
  email: ["email", "username", "login", "user"],
  phone: ["phone", "username", "login"],
  password: ["password"],
  current_password: ["password"],
  new_password: ["new_password"],
  otp: ["otp"],
  organization: ["organization", "organisation", "company", "company_id", "workspace", "domain"],
  search: [],
  text: [],
};

/** Names of stored values that fit a field, the best first. */
export function storedNamesFor({ kind, name }: Pick<ReadField, "kind" | "name">): readonly string[] {
  return [name, ...namesOfKind[kind]];
}

export interface FoundValue {
  readonly value: string;
  readonly isStored: boolean;
  /** Name of the stored value. */
  readonly name: string;
}

const maxCodeAttempts = 2;

/** Finds the value for a field: a person's answer, else a stored value that was not used before. */
export async function valueFor(
  field: ReadField,
  {
    answers,
    stored,
    used,
  }: {
    readonly answers: Readonly<Record<string, string>>;
    readonly stored: StoredValues;
    readonly used: readonly string[];
  },
): Promise<FoundValue | undefined> {
  const { kind, name } = field;
  const names = storedNamesFor(field);
  for (const candidate of names) {
    const value = Object.hasOwn(answers, candidate) ? answers[candidate] : undefined;
    if (value !== undefined) return { value, isStored: false, name: candidate };
  }
  // The second field of a pair repeats the first.
  if (/_\d+$/.test(name) && kind === "new_password" && answers.new_password !== undefined)
    return { value: answers.new_password, isStored: false, name };
  for (const candidate of names) {
    const attempt = used.filter((one) => one === candidate).length + 1;
    if (attempt > limitOf(kind)) continue;
    const value = await stored(candidate, attempt);
    if (value !== undefined && value !== "") return { value, isStored: true, name: candidate };
  }
  return undefined;
}

/** Stored passwords are typed once: repetitions lock accounts. Several pages may require the identifier. */
function limitOf(kind: FieldKind): number {
  if (kind === "password") return 1;
  return kind === "otp" ? maxCodeAttempts : 3;
}
