import type { AuthChoice, AuthField, DiscoveredField, MfaOption, SignInOption, SsoButton } from "@shoal/schemas";

/** What a login needs from a person; the same data as `LoginNeed` of `@shoal/login`. */
export interface Question {
  readonly fields: readonly AskedField[];
  readonly choices: readonly AskedChoice[];
  /** An action outside of the page, in the site's words. */
  readonly external?: {
    /** `captcha` is solved in the browser of the login; others elsewhere. */
    readonly type?: string;
    readonly message: string;
  };
  /** The site's words about refused answers. */
  readonly refused?: string;
}

/** A field that a person fills in. */
export interface AskedField {
  /** Its meaning, numbered on repetition: `email`, `password`, `new_password_2`. */
  readonly name: string;
  readonly kind: string;
  readonly label: string;
  readonly required: boolean;
  /** Of a code: how it reaches the person. */
  readonly source?: "sms" | "call" | "email" | "totp";
}

/** A way that a person can choose. */
export interface AskedChoice {
  readonly id: string;
  readonly type: string;
  readonly label: string;
  readonly provider?: string;
  readonly factor?: string;
  /** Where a code goes, partly hidden. */
  readonly target?: string;
}

/** Compares without the order of keys, which databases change. */
export function isSameQuestion(one: Question, other: Question): boolean {
  const textOf = (question: Question): string => JSON.stringify(question, sortedKeys);
  return textOf(one) === textOf(other);
}

function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The parts of answers and events that describe a question. */
export interface ShownQuestion {
  readonly fields: AuthField[];
  readonly choices: AuthChoice[];
  readonly discovered_fields: DiscoveredField[];
  readonly mfa_options: MfaOption[];
  readonly sign_in_options: SignInOption[];
  readonly pending_sso_buttons: SsoButton[];
  readonly external_action_message?: string;
  readonly website_error?: string;
}

const identifiers: ReadonlySet<string> = new Set(["username", "email", "phone"]);

export function isIdentifier({ kind }: AskedField): boolean {
  return identifiers.has(kind);
}

export function isMfa({ type }: AskedChoice): boolean {
  return type === "mfa_method";
}

export function isProvider({ type }: AskedChoice): boolean {
  return type === "sso_provider";
}

function fieldType(field: AskedField): AuthField["type"] {
  if (isIdentifier(field)) return "identifier";
  if (field.kind.endsWith("password")) return "password";
  return field.kind === "otp" ? "code" : "text";
}

function inputType({ kind }: AskedField): DiscoveredField["type"] {
  if (kind.endsWith("password")) return "password";
  const types: Readonly<Partial<Record<string, DiscoveredField["type"]>>> = {
    email: "email",
    phone: "tel",
    otp: "code",
    link: "url",
  };
  return types[kind] ?? "text";
}

/** XPath that older clients send back to press the button. It names the choice, because pages change. */
export function selectorOf({ id }: Pick<AskedChoice, "id">): string {
  return `id("${id}")`;
}

/** Fills the new fields and the arrays of older clients alike. A way to other methods comes last. */
export function shownQuestion({ choices: offered, external, fields, refused }: Question): ShownQuestion {
  const choices = [...offered].sort((a, b) => Number(a.factor === "switch") - Number(b.factor === "switch"));
  const hint = refused === undefined ? {} : { hint: refused };
  return {
    fields: fields.map((field) => ({
      id: field.name,
      ref: field.name,
      type: fieldType(field),
      reason: refused === undefined ? "missing" : "rejected",
      label: field.label,
      required: field.required,
      ...hint,
    })),
    choices: choices.map(({ factor, id, label, target, type }) => ({
      id,
      type,
      label,
      ...(factor !== undefined && { mfa_type: factor }),
      ...(target !== undefined && { masked_destination: target }),
    })),
    discovered_fields: fields.map((field) => ({
      name: field.name,
      type: inputType(field),
      label: field.label,
      required: field.required,
      selector: `[name=${JSON.stringify(field.name)}]`,
      ...(field.source !== undefined && { linked_mfa_type: field.source }),
      // Pages of older clients show it, but not `website_error`.
      ...hint,
    })),
    mfa_options: choices.filter(isMfa).map(({ factor = "switch", label, target }) => ({
      type: factor,
      label,
      ...(target !== undefined && { target }),
    })),
    sign_in_options: choices
      .filter((choice) => !isMfa(choice) && !isProvider(choice))
      .map(({ id, label, target }) => ({ id, label, ...(target !== undefined && { description: target }) })),
    pending_sso_buttons: choices
      .filter(isProvider)
      .map((choice) => ({ selector: selectorOf(choice), provider: choice.provider ?? choice.id, label: choice.label })),
    ...(external && { external_action_message: external.message }),
    ...(refused !== undefined && { website_error: refused }),
  };
}
