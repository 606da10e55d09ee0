import type { AuthChoice, AuthField, SubmitLogin } from "@shoal/schemas";
import type { Connection } from "./api.ts";
import { element, siteWords, withName } from "./element.ts";
import { fieldOf, type ShownField } from "./fields.ts";
import { texts } from "./texts.ts";

export interface View {
  readonly title: string;
  readonly content: readonly HTMLElement[];
  /** Receives the focus; the heading if absent. */
  readonly focus?: HTMLElement | undefined;
  readonly isWide?: boolean;
}

export type Submit = (answer: SubmitLogin) => void;

function titleOf(fields: readonly AuthField[], choices: readonly AuthChoice[]): string {
  const { questions } = texts;
  if (fields.some(isCode)) return questions.code;
  if (fields.some(({ ref }) => ref.startsWith("new_password"))) return questions.newPassword;
  if (fields.some(({ type }) => type === "password" || type === "identifier")) return questions.login;
  if (fields.length > 0) return questions.other;
  if (choices.length > 0 && choices.every(({ type }) => type === "account")) return questions.account;
  return choices.some(({ type }) => type === "mfa_method") ? questions.factor : questions.choice;
}

const isCode = ({ type }: AuthField) => type === "code" || type === "totp_code";
const isSwitch = ({ mfa_type, type }: AuthChoice) => mfa_type === "switch" || type === "other";

/** Asks everything that the site asks at once: fields, buttons of providers, and other ways. */
export function questionView(connection: Connection, submit: Submit): View {
  const fields = connection.fields ?? [];
  const choices = connection.choices ?? [];
  // A refused answer is explained once.
  const shown = fields.map(({ hint, ...field }, index) =>
    fieldOf(hint === undefined || hint === connection.website_error ? field : { ...field, hint }, index),
  );
  return {
    title: titleOf(fields, choices),
    content: [
      ...(connection.website_error == null ? [] : [websiteError(connection.domain, connection.website_error)]),
      reason(connection, fields),
      ...(shown.length === 0
        ? []
        : [
            formOf(
              shown,
              { ...connection, save_credentials: connection.save_credentials && !fields.every(isCode) },
              submit,
            ),
          ]),
      ...choiceLists(connection, submit),
    ],
    focus: shown.find(({ input }) => input.value === "")?.input,
  };
}

function websiteError(site: string, words: string): HTMLElement {
  return element(
    "div",
    { class: "problem", role: "alert" },
    element("strong", {}, ...withName(texts.siteSays, site)),
    " ",
    siteWords(words),
  );
}

function reason({ domain }: Connection, fields: readonly AuthField[]): HTMLElement {
  const isRejected = fields.some(({ reason: why }) => why === "rejected");
  const isMissing = fields.some((field) => field.reason === "missing" && !isCode(field));
  return element(
    "p",
    { class: "reason" },
    ...(isRejected ? withName(texts.rejected, domain) : isMissing ? [texts.missing] : []),
  );
}

function formOf(fields: readonly ShownField[], { save_credentials, ...rest }: Connection, submit: Submit): HTMLElement {
  const form = element(
    "form",
    { novalidate: true, autocomplete: "on" },
    ...fields.map(({ row }) => row),
    save_credentials ? element("p", { class: "note" }, texts.stored) : undefined,
    element("button", { type: "submit", class: "main" }, texts.submit),
  );
  form.onsubmit = (event) => {
    event.preventDefault();
    const incomplete = fields.filter((field) => !field.check());
    if (incomplete[0] === undefined) {
      const values = fields.filter(({ input }) => input.value !== "").map(({ id, input }) => [id, input.value]);
      submit({ ...interactionOf(rest), field_values: Object.fromEntries(values) as Record<string, string> });
      // The values are not needed any more.
      for (const { input } of fields) input.value = "";
    } else incomplete[0].input.focus();
  };
  return form;
}

const interactionOf = ({ interaction_id: id }: Pick<Connection, "interaction_id">) =>
  id === undefined ? {} : { interaction_id: id };

/** Buttons for the choices. Ways to other methods come last. */
export function choiceLists(connection: Connection, submit: Submit): HTMLElement[] {
  const choices = connection.choices ?? [];
  const lists = [choices.filter((choice) => !isSwitch(choice)), choices.filter(isSwitch)] as const;
  return lists.flatMap((list, index) => {
    if (list.length === 0) return [];
    const isFirst = (connection.fields ?? []).length === 0 && index === 0;
    const heading = index === 0 ? texts.or : texts.otherWays;
    return [
      ...(isFirst ? [] : [element("h3", { class: "divider" }, heading)]),
      element("ul", { class: "choices" }, ...list.map((choice) => choiceItem(choice, connection, submit))),
    ];
  });
}

function choiceItem(choice: AuthChoice, connection: Connection, submit: Submit): HTMLElement {
  const details = [choice.masked_destination, choice.description ?? undefined, choice.context];
  const button = element(
    "button",
    { type: "button", class: "choice" },
    siteWords(choice.display_text ?? choice.label),
    ...details
      .filter((text) => text !== undefined && text !== "")
      .map((text) => element("span", { class: "detail" }, siteWords(text ?? ""))),
  );
  button.onclick = () => {
    submit({ ...interactionOf(connection), selected_choice_id: choice.id });
  };
  return element("li", {}, button);
}
