import type { AuthField } from "@shoal/schemas";
import { element, siteWords } from "./element.ts";
import { texts } from "./texts.ts";

/** One question of the site, with its input. */
export interface ShownField {
  readonly id: string;
  readonly row: HTMLElement;
  readonly input: HTMLInputElement;
  /** Marks the input if it is empty and must not be. @returns whether it is complete. */
  check(): boolean;
  /** Marks the input as invalid, with a text. */
  refuse(text: string): void;
}

interface InputKind {
  readonly type: string;
  readonly autocomplete: string;
  readonly inputmode?: string;
  readonly label: string;
}

function kindOf({ ref, type }: AuthField): InputKind {
  const { fields: labels } = texts;
  switch (type) {
    case "password":
      return {
        type: "password",
        autocomplete: ref.startsWith("new_password") ? "new-password" : "current-password",
        label: labels.password,
      };
    case "code":
    case "totp_code":
      return { type: "text", autocomplete: "one-time-code", inputmode: "numeric", label: labels.code };
    case "identifier":
      return identifierKind(ref);
    case "totp_secret":
      return { type: "password", autocomplete: "off", label: labels.other };
    default:
      // A link from a mail is pasted.
      return ref.startsWith("link")
        ? { type: "url", autocomplete: "off", inputmode: "url", label: labels.other }
        : { type: "text", autocomplete: "off", label: labels.other };
  }
}

function identifierKind(ref: string): InputKind {
  const label = texts.fields.identifier;
  if (ref.startsWith("email")) return { type: "email", autocomplete: "username", inputmode: "email", label };
  if (ref.startsWith("phone")) return { type: "tel", autocomplete: "tel", inputmode: "tel", label };
  return { type: "text", autocomplete: "username", label };
}

export function fieldOf(field: AuthField, number: number): ShownField {
  const kind = kindOf(field);
  const label = (field.label ?? "").trim() === "" ? kind.label : (field.label ?? "");
  const name = `field-${String(number)}`;
  const isRequired = field.required !== false;
  const isRefused = field.reason === "rejected";
  const hasHint = (field.hint ?? "") !== "";
  const input = element("input", {
    id: name,
    name,
    type: kind.type,
    autocomplete: kind.autocomplete,
    inputmode: kind.inputmode,
    autocapitalize: "none",
    autocorrect: "off",
    spellcheck: "false",
    maxlength: "65536",
    "aria-required": isRequired ? "true" : undefined,
    "aria-invalid": isRefused ? "true" : undefined,
    "aria-describedby": `${name}-error${hasHint ? ` ${name}-hint` : ""}`,
  });
  const error = element("p", { id: `${name}-error`, class: "error" });
  const tools = toolOf(field, { input, label });
  const row = element(
    "div",
    { class: "field" },
    element("label", { for: name }, siteWords(label), isRequired ? undefined : ` (${texts.optional})`),
    element("div", { class: tools === undefined ? "input" : "input with-tool" }, input, tools),
    hasHint ? element("p", { id: `${name}-hint`, class: "hint" }, siteWords(field.hint ?? "")) : undefined,
    error,
  );
  const refuse = (text: string): void => {
    error.textContent = text;
    input.setAttribute("aria-invalid", "true");
  };
  return {
    id: field.id,
    row,
    input,
    refuse,
    check() {
      const isComplete = !isRequired || input.value.trim() !== "";
      error.textContent = "";
      input.removeAttribute("aria-invalid");
      if (!isComplete) refuse(texts.required(label.slice(0, 100)));
      return isComplete;
    },
  };
}

function toolOf(
  { type }: AuthField,
  { input, label }: { readonly input: HTMLInputElement; readonly label: string },
): HTMLElement | undefined {
  if (type === "password" || type === "totp_secret") {
    const button = element(
      "button",
      { type: "button", class: "tool", "aria-pressed": "false", "aria-label": texts.showField(label.slice(0, 100)) },
      texts.show,
    );
    button.onclick = () => {
      const isShown = input.type === "password";
      input.type = isShown ? "text" : "password";
      button.setAttribute("aria-pressed", String(isShown));
    };
    return button;
  }
  if (type !== "code" && type !== "totp_code") return undefined;
  input.classList.add("code");
  const button = element("button", { type: "button", class: "tool", "aria-pressed": "false" }, texts.letters);
  button.onclick = () => {
    const hasLetters = input.inputMode === "numeric";
    input.inputMode = hasLetters ? "text" : "numeric";
    button.setAttribute("aria-pressed", String(hasLetters));
    input.focus();
  };
  return button;
}
