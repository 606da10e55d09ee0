import type { Database } from "@shoal/database";
import { randomBytes } from "node:crypto";
import { hasUnknownSecret } from "../../audit/logs/chain.ts";
import { createServerSecret, findServerSecret, lostServerSecret } from "../../config/data-dir.ts";
import type { Config } from "../../config/settings.ts";
import { createSecrets } from "../../storage/secrets.ts";

/**
 * Returns the secret of the service. The first start creates it.
 * @throws {StartError} when it is missing at a later start: another one would make all encrypted data unreadable.
 */
export async function settleSecret(
  config: Pick<Config, "previous_secret_keys" | "secret_key">,
  dataDir: string,
  { query }: Pick<Database, "query">,
): Promise<string> {
  const present = findServerSecret(dataDir, config.secret_key);
  if (present !== undefined) return present;
  const [first = randomBytes(32).toString("base64url"), ...others] = config.previous_secret_keys ?? [];
  if (await hasUnknownSecret(query, createSecrets(first, others))) throw lostServerSecret(dataDir);
  return createServerSecret(dataDir);
}
