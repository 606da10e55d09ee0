import { invalid, nameTaken, notFound, type Refusal } from "./refusal.ts";

/** Limit of the values of one credential. */
export const maxCredentialValues = 100;

/** Limit of the items of one vault. */
export const maxVaultItems = 500;

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

/** 404 for a vault that the caller cannot see. */
export function vaultNotFound(idOrName: string): Refusal {
  return notFound(
    `Vault ${idOrName} was not found in this project.`,
    "List the vaults with vaults.list, or create it with vaults.create.",
  );
}

/** 404 for an item that a vault does not have. */
export function vaultItemNotFound(key: string): Refusal {
  return notFound(
    `Item ${key} was not found in this vault.`,
    "List the items with vaults.items.list, or create it with vaults.items.put.",
  );
}

/** 409 for another definition of an item. */
export function vaultItemExists(key: string): Refusal {
  return {
    status: 409,
    code: "conflict",
    problem: `Item ${key} was created with another request.`,
    hint: "Change it with vaults.items.update, or delete it with vaults.items.delete.",
  };
}

/** 409 for a new item of a full vault. */
export const tooManyVaultItems: Refusal = {
  status: 409,
  code: "conflict",
  problem: `the vault has ${String(maxVaultItems)} items`,
  limit: maxVaultItems,
  hint: "Delete items with vaults.items.delete, or use another vault.",
};

/** 409 for a change of another version. */
export function staleVaultItem(version: number): Refusal {
  return {
    status: 409,
    code: "conflict",
    field: "body.version",
    problem: `the item has version ${String(version)}`,
    limit: version,
    hint: "Get the item, and send the change with its version.",
  };
}

/** 501 for the kinds of items that need a party outside of the service. */
export function vaultItemOfOthers(field: string, what: string): Refusal {
  return {
    status: 501,
    code: "not_implemented",
    field,
    problem: `${what} needs an agreement with a payment service or password manager, which this service does not have`,
    hint: "Use an item of type credential with provider kernel or managed_auth.",
  };
}

/** 400 for a value that was encrypted to another key. */
export function encryptionKeyMismatch(field: string): Refusal {
  return {
    status: 400,
    code: "encryption_key_mismatch",
    field,
    problem: "was not encrypted to the key of this vault",
    hint: "Get the key with vaults.encryptionKey, and encrypt the value again.",
  };
}

/** 401 for a link to a form that does not work. */
export const vaultFormExpired: Refusal = {
  status: 401,
  code: "unauthorized",
  problem: "This link is invalid, was used, or has expired.",
  hint: "Get the item again: vaults.items.get returns a new link.",
};

/** 409 for an operation that the item does not have now. */
export function vaultOperationUnavailable(type: string): Refusal {
  return {
    status: 409,
    code: "conflict",
    field: "body.type",
    problem: `the item has no operation ${type} now`,
    hint: "Read available_operations of the item.",
  };
}
