import { invalid, nameTaken, notFound, type Refusal } from "./refusal.ts";

/** Limit of the values of one credential. */
export const maxCredentialValues = 100;

/** 404 for a credential that the caller cannot see. */
export function credentialNotFound(idOrName: string): Refusal {
  return notFound(
    `Credential ${idOrName} was not found in this project.`,
    "List the credentials with credentials.list, or create it with credentials.create.",
  );
}

/** 404 for a value that a credential does not have. */
export function credentialWithoutValue(idOrName: string, field: string): Refusal {
  return {
    ...notFound(
      `the credential ${idOrName} has no value ${field}`,
      field === "totp_code"
        ? "Set totp_secret with credentials.update."
        : "Its names of values are value_keys in credentials.get; set the value with credentials.update.",
    ),
    field: "body.secret.field",
  };
}

/** 409 for a credential whose sites are not addresses: its values are typed nowhere. */
export function credentialWithoutSites(idOrName: string): Refusal {
  return {
    status: 409,
    code: "conflict",
    field: "body.secret.credential",
    problem: `the credential ${idOrName} names no site, so its values are typed nowhere`,
    hint: "An administrator can set sites with credentials.update.",
  };
}

/** 409 for the name of another credential of the project. */
export function credentialNameTaken(name: string): Refusal {
  return nameTaken(
    `A credential named ${JSON.stringify(name)} already exists in this project.`,
    "Choose another name, or change that credential with credentials.update.",
  );
}

/** 404 for a one-time code of a credential without a secret. */
export function noTotpSecret(idOrName: string): Refusal {
  return notFound(
    `Credential ${idOrName} has no secret for one-time codes.`,
    "Set totp_secret with credentials.update.",
  );
}

/** 400 for values that exceed the limit together with the stored ones. */
export function tooManyValues(count: number): Refusal {
  return invalid("body.values", `the credential would have ${String(count)} values`, {
    limit: maxCredentialValues,
    hint: `A credential has at most ${String(maxCredentialValues)}; remove some with remove_value_keys.`,
  });
}

/** 400 for a secret that generates no codes. @param problem - does not contain the secret. */
export function invalidTotpSecret(problem: string): Refusal {
  return invalid("body.totp_secret", problem, {
    hint: "Send the key that the site shows for authenticator apps, or its otpauth://totp/ URI.",
  });
}

/** 400 for settings of one-time codes without a secret. */
export function totpSecretMissing(body: Readonly<Record<string, unknown>>): Refusal | undefined {
  if (body.totp_secret !== undefined && body.totp_secret !== "") return undefined;
  const unused = ["totp_algorithm", "totp_digits", "totp_period"].find((field) => body[field] !== undefined);
  if (unused === undefined) return undefined;
  return invalid(`body.${unused}`, "needs totp_secret", {
    hint: "Send the secret again together with it: its settings cannot be changed alone.",
  });
}

/** 400 for a text that is not a domain. */
export function invalidDomain(field: string): Refusal {
  return invalid(field, "expected a domain, with a port if it has one", {
    hint: "Write example.com or localhost:3000, without https:// and without a path.",
  });
}
