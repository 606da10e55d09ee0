import type { Answer } from "@shoal/contract/logins";
import { type CodeSource, type LoginNeed, type LoginPlan, storedNamesFor } from "@shoal/login";
import type { PersonNeed, StoredNeeds } from "../connections/stored-needs.ts";

type AskedField = LoginNeed["fields"][number];

const maxValues = 50;

/** Collects what a login needs, to know whether it can be repeated without a person. */
export class LoginNeeds {
  readonly #values = new Map<string, readonly string[]>();
  readonly #person = new Set<PersonNeed>();
  /** Of the second factor that a person chose. */
  #chosen: CodeSource | undefined;

  /** @param answer - of a person; `look` after an action outside of the page. */
  add({ choices, external, fields }: LoginNeed, answer: Answer | "look"): void {
    if (external !== undefined) this.#person.add(external.type);
    if (answer === "look") return;
    if ("values" in answer) {
      for (const field of fields) if (Object.hasOwn(answer.values, field.name)) this.#addField(field);
      return;
    }
    this.#person.add("choice");
    const factor = choices.find(({ id }) => id === answer.choice)?.factor;
    this.#chosen = factor === "sms" || factor === "call" || factor === "email" ? factor : undefined;
  }

  #addField({ kind, name, source = this.#chosen }: AskedField): void {
    if (kind === "link") this.#person.add("link");
    // A changed password is typed once.
    else if (kind === "new_password") return;
    else if (kind === "otp" && (source === "sms" || source === "call" || source === "email")) this.#person.add(source);
    else this.#values.set(name, storedNamesFor({ kind, name }));
  }

  stored({ steps }: LoginPlan): StoredNeeds {
    const values = new Map(this.#values);
    const hasCodeOfPerson = ["sms", "call", "email"].some((need) => this.#person.has(need as PersonNeed));
    for (const { kind, name } of steps.flatMap(({ fields }) => fields)) {
      const isOptional = kind === "text" || kind === "search" || kind === "new_password";
      if (!isOptional && !(kind === "otp" && hasCodeOfPerson)) values.set(name, storedNamesFor({ kind, name }));
    }
    return {
      values: [...values].slice(0, maxValues).map(([name, stored_as]) => ({ name, stored_as })),
      person: [...this.#person],
      has_plan: steps.length > 0,
    };
  }
}
