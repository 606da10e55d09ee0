interface Kind {
  readonly label: string;
  readonly token: string;
  /** Required settings first. */
  readonly settings: readonly { readonly name: string; readonly isRequired?: boolean; readonly example?: string }[];
}

const address = { name: "address", isRequired: true, example: "https://store.example.com" };
const vault: Kind["settings"] = [
  address,
  { name: "mount", example: "secret" },
  { name: "path" },
  { name: "namespace" },
  { name: "kv_version", example: "2" },
  { name: "role_id" },
  { name: "auth_mount", example: "approle" },
];

/** Kinds of the service itself; an operator can add others. */
export const kinds: Readonly<Record<string, Kind>> = {
  onepassword: { label: "1Password", token: "Token of a service account", settings: [] },
  onepassword_connect: { label: "1Password Connect", token: "Token of the Connect server", settings: [address] },
  bitwarden: { label: "Bitwarden (bw serve)", token: "Master password", settings: [address] },
  vault: { label: "HashiCorp Vault", token: "Token, or secret id of AppRole", settings: vault },
  openbao: { label: "OpenBao", token: "Token, or secret id of AppRole", settings: vault },
  infisical: {
    label: "Infisical",
    token: "Client secret of a machine identity",
    settings: [
      { name: "client_id", isRequired: true },
      { name: "project_id", isRequired: true },
      { name: "environment", isRequired: true, example: "prod" },
      { name: "path", example: "/" },
      { name: "address" },
    ],
  },
  doppler: {
    label: "Doppler",
    token: "Service token",
    settings: [{ name: "project" }, { name: "config" }, { name: "address" }],
  },
  aws_secrets_manager: {
    label: "AWS Secrets Manager",
    token: "Secret access key",
    settings: [
      { name: "region", isRequired: true, example: "eu-central-1" },
      { name: "access_key_id", isRequired: true },
      { name: "address" },
    ],
  },
  google_secret_manager: {
    label: "Google Secret Manager",
    token: "JSON key of a service account",
    settings: [{ name: "project" }, { name: "address" }],
  },
};

export const labelOf = (kind: string): string => kinds[kind]?.label ?? kind;
