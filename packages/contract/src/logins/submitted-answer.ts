import type { SubmitLogin } from "@shoal/schemas";
import type * as z from "zod/mini";
import {
  type AskedChoice,
  type AskedField,
  isIdentifier,
  isMfa,
  isProvider,
  type Question,
  selectorOf,
} from "./question.ts";

/** The same data as `LoginAnswers` of `@shoal/login`: values by the names of fields, or the id of a choice. */
export type Answer = { readonly values: Readonly<Record<string, string>> } | { readonly choice: string };

/** For 422: the answer fits nothing that is asked. Contains no values. */
export interface Unfit {
  readonly field: string;
  readonly problem: string;
  /** It answers an earlier question. */
  readonly isStale?: true;
}

type Submitted = z.output<typeof SubmitLogin>;

const choiceFields = [
  "selected_choice_id",
  "sso_button_selector",
  "sso_provider",
  "mfa_option_id",
  "sign_in_option_id",
] as const satisfies readonly (keyof Submitted)[];

/** Names that older programs use for the one identifier that a site requires. */
const identifierNames: ReadonlySet<string> = new Set(["username", "email", "login", "user", "phone", "identifier"]);

const unfit = (name: string, problem: string): Unfit => ({ field: `body.${name}`, problem });
const isFilled = (values: Readonly<Record<string, string>> | undefined) =>
  values !== undefined && Object.keys(values).length > 0;

/**
 * Reads every form of an answer that the SDKs and the React component send.
 * @param interactionId - of the question.
 */
export function answerTo(question: Question, interactionId: string | undefined, submitted: Submitted): Answer | Unfit {
  if (submitted.interaction_id !== undefined && submitted.interaction_id !== interactionId)
    return {
      ...unfit("interaction_id", "the login asks another question now; get the connection for its interaction_id"),
      isStale: true,
    };
  // The React component sends an empty map with each button.
  const maps = (["field_values", "fields"] as const).filter((name) => isFilled(submitted[name]));
  const choices = choiceFields.filter((name) => submitted[name] !== undefined);
  const given = [...maps, ...choices];
  const [name] = given;
  if (name === undefined) return unfit("field_values", "expected values or a choice");
  if (given.length > 1) return unfit(given[1] ?? name, `give exactly one of ${given.join(" and ")}`);
  if (name === "field_values" || name === "fields") return valuesFor(question, name, submitted[name] ?? {});
  const wanted = submitted[name] ?? "";
  const chosen = question.choices.find((choice) => matches(choice, name, wanted));
  return chosen === undefined ? unfit(name, "the login does not offer this choice") : { choice: chosen.id };
}

function matches(choice: AskedChoice, name: (typeof choiceFields)[number], wanted: string): boolean {
  switch (name) {
    case "selected_choice_id":
      return choice.id === wanted;
    case "sso_button_selector":
      return isProvider(choice) && selectorOf(choice) === wanted;
    case "sso_provider":
      return isProvider(choice) && (choice.provider ?? choice.id) === wanted;
    case "mfa_option_id":
      return isMfa(choice) && (choice.factor ?? "switch") === wanted;
    case "sign_in_option_id":
      return !isMfa(choice) && !isProvider(choice) && choice.id === wanted;
  }
}

function valuesFor({ fields }: Question, from: string, given: Readonly<Record<string, string>>): Answer | Unfit {
  const values = new Map<string, string>();
  for (const [key, value] of Object.entries(given)) {
    const field = fieldFor(fields, key);
    if (field === undefined)
      return unfit(from, `the login requires ${fields.map(({ name }) => name).join(", ") || "no values"} only`);
    if (values.has(field.name)) return unfit(from, `two values for ${field.name}`);
    values.set(field.name, value);
  }
  const missing = fields.find(({ name, required }) => required && (values.get(name) ?? "") === "");
  return missing === undefined ? { values: Object.fromEntries(values) } : unfit(from, `${missing.name} is missing`);
}

function fieldFor(fields: readonly AskedField[], key: string): AskedField | undefined {
  const exact = fields.find(({ name }) => name === key);
  if (exact !== undefined || !identifierNames.has(key)) return exact;
  const [only, other] = fields.filter(isIdentifier);
  return other === undefined ? only : undefined;
}
