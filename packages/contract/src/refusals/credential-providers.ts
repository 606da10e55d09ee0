import { invalid, nameTaken, notFound, type Refusal } from "./refusal.ts";

/** The kinds of providers that need no module. */
export const ownProviderTypes: readonly string[] = [
  "onepassword",
  "onepassword_connect",
  "bitwarden",
  "vault",
  "openbao",
  "infisical",
  "doppler",
  "aws_secrets_manager",
  "google_secret_manager",
];

const listHint = "List them with credentialProviders.list.";

/** 404 `not_found`, also for providers of other projects. */
export function credentialProviderNotFound(id: string): Refusal {
  return notFound(`Credential provider ${id} was not found in this project.`, listHint);
}

/** 409: names of providers are unique in a project. */
export function credentialProviderNameTaken(name: string): Refusal {
  return nameTaken(
    `A credential provider named ${JSON.stringify(name)} already exists in this project.`,
    "Choose another name, or change that provider.",
  );
}

/** 400. `known` also lists the kinds of the operator's modules. */
export function unknownProviderType(type: string, known: readonly string[]): Refusal {
  return invalid("body.provider_type", `${JSON.stringify(type.slice(0, 64))} is not a kind of provider here`, {
    hint: `Known kinds: ${known.join(", ")}.`,
  });
}

/** A caller without the token must not have it sent to an address of its choice. */
export function addressNeedsToken(setting: string): Refusal & { readonly field: string } {
  return invalid("body.token", `is required when settings.${setting} changes`, {
    hint: "Send the token again, for the new address.",
  });
}
