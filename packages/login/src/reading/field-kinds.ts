import type { OutlineNode } from "@shoal/instance";
import {
  codeWords,
  emailWords,
  newPasswordWords,
  notCodeWords,
  oldPasswordWords,
  organizationWords,
  otherFieldWords,
  passwordWords,
  perhapsCodeWords,
  phoneWords,
  searchWords,
  usernameWords,
} from "../words/field-words.ts";
import { fold } from "../words/phrases.ts";
import { meaningOf } from "./page-tree.ts";

/** Meaning of a field. `text`: a field without a known meaning. */
export type FieldKind =
  | "username"
  | "email"
  | "phone"
  | "password"
  | "current_password"
  | "new_password"
  | "otp"
  | "organization"
  | "search"
  | "text";

const byAutocomplete: Readonly<Record<string, FieldKind>> = {
  username: "username",
  email: "email",
  tel: "phone",
  "tel-national": "phone",
  "current-password": "password",
  "new-password": "new_password",
  "one-time-code": "otp",
  organization: "organization",
};

/** Decides the kind of one field from its attributes and names; {@link kindsOf} sees all fields of a form. */
export function kindOf(node: OutlineNode): FieldKind {
  const { attributes } = node;
  const type = attributes.type?.toLowerCase() ?? "";
  const tokens = (attributes.autocomplete ?? "").toLowerCase().split(/\s+/);
  const stated = tokens.map((token) => byAutocomplete[token]).find((kind) => kind !== undefined);
  const meaning = meaningOf(node);
  if (type === "password") return passwordKind(meaning, stated);
  if (stated === "otp") return "otp";
  if (node.role === "searchbox" || node.tag === "textarea") return node.tag === "textarea" ? "text" : "search";
  if (tokens.some((token) => token.startsWith("cc-"))) return "text";
  // A page may name each text field a password.
  if (stated !== undefined && stated !== "password" && stated !== "new_password")
    return specific(stated, node, meaning);
  return textKind(node, type, meaning);
}

function passwordKind(meaning: string, stated: FieldKind | undefined): FieldKind {
  if (stated === "otp" || (codeWords.says(meaning) && !passwordWords.says(meaning))) return "otp";
  if (oldPasswordWords.says(meaning)) return "current_password";
  if (stated === "new_password" || newPasswordWords.says(meaning)) return "new_password";
  return "password";
}

/** "username" covers addresses and numbers; the field's words say which. */
function specific(stated: FieldKind, node: OutlineNode, meaning: string): FieldKind {
  if (stated !== "username") return stated;
  const type = node.attributes.type;
  if (type === "email" || node.attributes.inputmode === "email") return "email";
  if (type === "tel") return "phone";
  return emailWords.says(meaning) && !namesSeveral(meaning) ? "email" : "username";
}

/** "Email or phone": any identifier. */
function namesSeveral(meaning: string): boolean {
  return [emailWords.says(meaning), phoneWords.says(meaning), usernameWords.says(meaning)].filter(Boolean).length > 1;
}

function textKind(node: OutlineNode, type: string, meaning: string): FieldKind {
  if (codeWords.says(meaning) && !notCodeWords.says(meaning)) return "otp";
  if (type === "email" || node.attributes.inputmode === "email")
    return namesSeveral(node.name) && phoneWords.says(node.name) ? "username" : "email";
  const isMail = emailWords.says(meaning);
  const isPhone = phoneWords.says(meaning) || type === "tel";
  const isUser = usernameWords.says(meaning);
  if (isMail && (isPhone || isUser)) return isUser && !isPhone && onlyFromAttribute(node) ? "email" : "username";
  if (isMail) return "email";
  if (searchWords.says(meaning)) return "search";
  if (perhapsCodeWords.says(meaning) && !notCodeWords.says(meaning) && !isUser) return "otp";
  if (isPhone) return "phone";
  if (organizationWords.says(meaning) && !isUser) return "organization";
  if (isUser) return "username";
  if (organizationWords.says(meaning)) return "organization";
  if (otherFieldWords.says(meaning)) return "text";
  return "text";
}

/** `name="login"` on a field that people read as "Email". */
function onlyFromAttribute(node: OutlineNode): boolean {
  return !usernameWords.says(`${node.name}\n${node.attributes.placeholder ?? ""}`);
}

/** Corrects kinds by the other fields of the form: the number of passwords, and the field before one. */
export function kindsOf(nodes: readonly OutlineNode[]): readonly FieldKind[] {
  const kinds = nodes.map(kindOf);
  const places = kinds.flatMap((kind, place) => (isPassword(kind) ? [place] : []));
  const set = (place: number | undefined, kind: FieldKind): void => {
    if (place !== undefined) kinds[place] = kind;
  };
  if (places.length === 2 && !places.some((place) => kinds[place] === "new_password")) {
    // Two unmarked passwords are a new one and its repetition, or an old and a new one.
    const hasOld = kinds[places[0] ?? 0] === "current_password";
    if (!hasOld) set(places[0], "new_password");
    set(places[1], "new_password");
  }
  if (places.length >= 3 && kinds[places[0] ?? 0] === "password") {
    set(places[0], "current_password");
    set(places[1], "new_password");
    set(places[2], "new_password");
  }
  const isNew = places.some((place) => kinds[place] === "new_password");
  for (const place of places) {
    if (kinds[place] === "password" && isNew && places.length > 1)
      set(place, place === places[0] ? "current_password" : "new_password");
    if (kinds[place] === "current_password" && places.length === 1) set(place, "password");
    // One field marked as new, without a repetition, on a form with an identifier, is often a login.
  }
  const password = kinds.indexOf("password");
  if (password > 0 && !kinds.slice(0, password).some(isIdentifier)) {
    const before = nodes[password - 1];
    const kind = kinds[password - 1];
    if (
      before !== undefined &&
      (kind === "text" || kind === "organization" || kind === "otp") &&
      !otherFieldWords.says(meaningOf(before))
    )
      set(password - 1, "username");
  }
  return kinds;
}

export function isPassword(kind: FieldKind): boolean {
  return kind === "password" || kind === "new_password" || kind === "current_password";
}

export function isIdentifier(kind: FieldKind): boolean {
  return kind === "username" || kind === "email" || kind === "phone";
}

/** A name for a field without a known meaning, from its words: `date_of_birth`. */
export function freeName(node: OutlineNode): string {
  const words = fold(node.name || (node.attributes.name ?? "") || (node.attributes.placeholder ?? ""));
  const name = words
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|(?<!_)_+$/g, "")
    .slice(0, 40);
  return name === "" ? "text" : name;
}
