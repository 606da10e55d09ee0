import { element, required, siteWords } from "../../sign-in-page/page/element.ts";
import { fieldOf } from "../../sign-in-page/page/fields.ts";
import type { ShownField, ShownForm } from "./form.ts";

const texts = {
  title: "Enter sign-in data",
  note: "The values are stored encrypted. This page shows no stored password.",
  kept: "A value is stored. Leave the field empty to keep it.",
  submit: "Save",
  done: "The values are stored. You can close this page.",
  invalid: "This link is invalid, was used, or has expired. Ask for a new one.",
  changed: "The data was changed in the meantime. Ask for a new link.",
  large: "The values are too long. Shorten them and try again.",
  refused: "The values cannot be stored. Check them and try again.",
  email: "Enter an email address.",
  unfit: "This value cannot be stored. Shorten it, or enter it again.",
  broken: "The service does not answer. Try again in a moment.",
};

const token = location.hash.slice(1);
const view = required("view");
const note = required("note");

class Refused extends Error {
  readonly status: number;
  /** Path of the refused value. */
  readonly field: string | undefined;

  constructor(status: number, field: string | undefined) {
    super(String(status));
    this.status = status;
    this.field = field;
  }
}

async function call(method: string, body?: object): Promise<unknown> {
  const answer = await fetch(`${location.pathname.replace(/\/$/, "")}/form`, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answered = (await answer.json()) as { readonly field?: string };
  if (answer.ok) return answered;
  throw new Refused(answer.status, answered.field);
}

function show(problem: unknown): void {
  const place = required("problem");
  place.hidden = problem === undefined;
  if (problem === undefined) return;
  const refusal = problem instanceof Refused ? problem : undefined;
  if (refusal?.status === 401 || refusal?.status === 409) {
    view.replaceChildren();
    note.textContent = "";
  }
  place.textContent = textOf(refusal?.status);
}

/** The text of the service is for programs. */
function textOf(status: number | undefined): string {
  switch (status) {
    case 400:
      return texts.refused;
    case 401:
      return texts.invalid;
    case 409:
      return texts.changed;
    case 413:
      return texts.large;
    default:
      return texts.broken;
  }
}

/** With the input of the sign-in page. A stored secret may stay. */
function inputOf(field: ShownField, number: number) {
  const keeps = field.has_value && field.value === undefined;
  const shown = fieldOf(
    {
      id: field.name,
      ref: field.type,
      type: field.type === "password" ? "password" : "identifier",
      label: field.label ?? field.name,
      required: field.required && !keeps,
      reason: "missing",
      ...(keeps && { hint: texts.kept }),
    },
    number,
  );
  if (field.sensitive) shown.input.type = "password";
  shown.input.value = field.value ?? "";
  // The browser changes some texts: an input has no line breaks.
  return { ...shown, field, initial: shown.input.value };
}

function showForm({ fields, title }: ShownForm): void {
  if (title !== undefined) required("title").replaceChildren(siteWords(title));
  note.textContent = texts.note;
  const inputs = fields.map(inputOf);
  const button = element("button", { type: "submit", class: "main" }, texts.submit);
  const form = element("form", { novalidate: true }, ...inputs.map(({ row }) => row), button);
  form.onsubmit = (event) => {
    event.preventDefault();
    const incomplete = inputs.filter((input) => !input.check());
    incomplete[0]?.input.focus();
    if (incomplete.length > 0) return;
    const changed = inputs.flatMap(({ id, initial, input }) =>
      input.value === initial ? [] : [[id, input.value === "" ? null : input.value] as const],
    );
    button.disabled = true;
    call("POST", { values: Object.fromEntries(changed) }).then(
      () => {
        show(undefined);
        view.replaceChildren();
        note.textContent = texts.done;
      },
      (error: unknown) => {
        button.disabled = false;
        show(error);
        const refused =
          error instanceof Refused ? inputs.find(({ id }) => error.field === `body.values.${id}`) : undefined;
        refused?.refuse(refused.field.type === "email" ? texts.email : texts.unfit);
        refused?.input.focus();
      },
    );
  };
  view.replaceChildren(form);
  inputs[0]?.input.focus();
}

call("GET").then((form) => {
  showForm(form as ShownForm);
}, show);
