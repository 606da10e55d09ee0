import type { AskedField, Question } from "@shoal/contract/logins";
import type { FakeField, FakeQuestion, FakeSite } from "../state/logins.ts";

const labels: Readonly<Partial<Record<string, string>>> = {
  username: "Username",
  email: "E-mail",
  phone: "Phone number",
  password: "Password",
  new_password: "New password",
  otp: "Code",
  organization: "Organization",
  link: "Link from the message",
};

/** `new_password_2` is the second field of its kind. */
function kindOf(name: string): string {
  const kind = name.replace(/_\d+$/, "");
  return kind in labels ? kind : "text";
}

function toAsked(field: string | FakeField): AskedField {
  const { label, name, required = true } = typeof field === "string" ? { name: field } : field;
  return { name, kind: kindOf(name), label: label ?? labels[kindOf(name)] ?? name, required };
}

export function toQuestion({ choices = [], external, fields = [], refused }: FakeQuestion): Question {
  return {
    fields: fields.map(toAsked),
    choices,
    ...(external !== undefined && { external: { message: external } }),
    ...(refused !== undefined && { refused }),
  };
}

/** Accepts any user name and password. */
export const defaultSite: FakeSite = async (login) => {
  await login.ask({ fields: ["username", "password"] });
  return undefined;
};
