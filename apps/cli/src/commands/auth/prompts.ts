import type { AuthChoice, AuthField, ManagedAuthStateEvent, SubmitLogin } from "@shoal/schemas";
import { isCancel, password, select, selectKey, text } from "@clack/prompts";
import { printable, truncate } from "../../output/format.ts";
import type { Answerer } from "./asking.ts";
import { describeQuestion, isRequired } from "./answers.ts";
import { Interrupted } from "./interrupted.ts";
import type { WaitingKeys } from "./waiting-keys.ts";

const maxLabel = 200;
const formKey = "f";
const pageKey = "o";
/** Keys of a numbered list. */
const maxKeys = 9;

/** A text of the site, which may contain anything. */
const shown = (words: string): string => truncate(printable(words), maxLabel);

function labelOf({ description, label, masked_destination: target, display_text }: AuthChoice): string {
  const more = [target, description].filter((one) => typeof one === "string" && one !== "");
  return shown([display_text ?? label, ...(more.length > 0 ? [`(${more.join(", ")})`] : [])].join(" "));
}

export interface PromptParts {
  readonly keys: WaitingKeys;
  /** Opens the hosted page of the login. */
  readonly openPage: (state: ManagedAuthStateEvent) => Promise<void>;
  /** Called with the value of each field that identifies the person. */
  readonly onIdentifier: (value: string) => void;
}

/** Asks the person at the terminal. */
export class PromptAnswers implements Answerer {
  readonly #parts: PromptParts;
  /** The last identifiers, which a person may keep when the site refuses an answer. */
  readonly #identifiers = new Map<string, string>();

  constructor(parts: PromptParts) {
    this.#parts = parts;
  }

  async answer(state: ManagedAuthStateEvent, signal: AbortSignal): Promise<SubmitLogin | undefined> {
    if (state.flow_step === "AWAITING_EXTERNAL_ACTION") return this.#waitElsewhere(state, signal);
    const { choices = [], fields = [] } = state;
    const chosen = choices.length > 0 ? await this.#choose(state, signal) : formKey;
    if (chosen === undefined) return undefined;
    return chosen === formKey ? this.#fill(fields, signal) : { selected_choice_id: chosen };
  }

  async #fill(fields: readonly AuthField[], signal: AbortSignal): Promise<SubmitLogin | undefined> {
    const field_values: Record<string, string> = {};
    for (const field of fields) {
      const value = await askField(field, this.#identifiers.get(field.id), signal);
      if (value === undefined) return undefined;
      if (value === "") continue;
      field_values[field.id] = value;
      if (field.type !== "identifier") continue;
      this.#identifiers.set(field.id, value);
      this.#parts.onIdentifier(value);
    }
    return { field_values };
  }

  /** @returns the id of a choice, `formKey`, or `undefined` when the question is over. */
  async #choose(state: ManagedAuthStateEvent, signal: AbortSignal): Promise<string | undefined> {
    const { choices = [], fields = [] } = state;
    const form = fields.length === 0 ? [] : [{ value: formKey, label: `Enter ${describeQuestion(state)}` }];
    const page = { value: pageKey, label: "Open the login page in a browser" };
    const common = { message: "How do you want to continue?", signal, output: process.stderr };
    for (;;) {
      const key =
        choices.length <= maxKeys
          ? await selectKey({
              ...common,
              options: [
                ...choices.map((choice, index) => ({ value: String(index + 1), label: labelOf(choice) })),
                ...form,
                page,
              ],
            })
          : await select({
              ...common,
              options: [
                ...choices.map((choice, index) => ({
                  value: String(index + 1),
                  label: `${String(index + 1)}. ${labelOf(choice)}`,
                })),
                ...form,
                page,
              ],
            });
      if (signal.aborted) return undefined;
      if (isCancel(key)) throw new Interrupted();
      if (key === formKey) return formKey;
      if (key !== pageKey) return choices[Number(key) - 1]?.id;
      await this.#parts.openPage(state);
    }
  }

  /** The login continues when the action is done; keys open the page or choose another way. */
  async #waitElsewhere(state: ManagedAuthStateEvent, signal: AbortSignal): Promise<SubmitLogin | undefined> {
    const { choices = [] } = state;
    const { keys, openPage } = this.#parts;
    for (;;) {
      const key = await keys.next(signal);
      if (key === undefined) return undefined;
      const choice = /^[1-9]$/.test(key) ? choices[Number(key) - 1] : undefined;
      if (choice !== undefined) return { selected_choice_id: choice.id };
      if (key === pageKey) await openPage(state);
    }
  }
}

/** Lines that show the keys of a wait. */
export function waitingHelp({ choices = [] }: ManagedAuthStateEvent): readonly string[] {
  return [
    ...choices.slice(0, maxKeys).map((choice, index) => `  ${String(index + 1)}  ${labelOf(choice)}`),
    `  ${pageKey}  Open the login page in a browser`,
  ];
}

/** @returns `undefined` when the question is over. */
async function askField(
  field: AuthField,
  initialValue: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { hint, id, label, reason, type } = field;
  const notes = [reason === "rejected" ? "rejected" : hint, isRequired(field) ? undefined : "optional"];
  const more = notes.filter((note) => note !== undefined && note !== "").map((note) => shown(note ?? ""));
  const message = `${shown(label ?? id)}${more.length > 0 ? ` (${more.join(", ")})` : ""}`;
  const validate = (value: string | undefined) =>
    isRequired(field) && (value ?? "") === "" ? "This field is required." : undefined;
  const common = { message, validate, signal, output: process.stderr };
  const value = await (type === "password" || type === "totp_secret"
    ? password(common)
    : text({ ...common, ...(initialValue !== undefined && { initialValue }) }));
  if (signal.aborted) return undefined;
  if (isCancel(value)) throw new Interrupted();
  return value;
}
