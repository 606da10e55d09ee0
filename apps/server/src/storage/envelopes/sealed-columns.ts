/** A column of sealed values. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  /** The primary key, of texts. */
  readonly key: readonly string[];
}

/** Every column with values of {@link Envelopes}. A test compares it with the tables. */
export const sealedColumns: readonly SealedColumn[] = [
  { table: "auth_flows", column: "answer", key: ["id"] },
  { table: "bot_keys", column: "private_key", key: ["id"] },
  { table: "credentials", column: "totp", key: ["id"] },
  { table: "deployment_keys", column: "secret", key: ["deployment_id"] },
  { table: "deployments", column: "env", key: ["id"] },
  { table: "deployments", column: "source_token", key: ["id"] },
  { table: "credential_providers", column: "token", key: ["id"] },
  { table: "proxies", column: "password", key: ["id"] },
  { table: "telemetry_destinations", column: "headers", key: ["id"] },
  { table: "webhooks", column: "secret", key: ["id"] },
  { table: "webhooks", column: "previous_secret", key: ["id"] },
  { table: "vaults", column: "private_key", key: ["id"] },
  { table: "vault_items", column: "request", key: ["id"] },
  { table: "vault_values", column: "sealed", key: ["item_id", "name"] },
  { table: "credential_values", column: "sealed", key: ["credential_id", "key"] },
];
