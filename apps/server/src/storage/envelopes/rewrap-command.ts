import { openSecondDatabase, type SecondDatabase } from "@shoal/database";
import { databaseDirectory, presentServerSecret } from "../../config/data-dir.ts";
import type { Config } from "../../config/settings.ts";
import type { Log } from "../../log/log.ts";
import { Envelopes } from "./envelopes.ts";
import { openMasterKeys } from "./master-keys.ts";
import { rewrapAll, type RewrapReport } from "./rewrap.ts";

/** The id of the installation, unique to its database. */
export async function installationOf(query: SecondDatabase["query"]): Promise<string> {
  const { id } = await query.selectFrom("organization").select("id").executeTakeFirstOrThrow();
  return id;
}

/**
 * Rewraps the stored secrets of a service, which may run.
 * @param onProgress - called after each batch.
 * @throws {StartError} and DatabaseError when keys or the database are missing.
 */
export async function rewrapService(
  config: Config,
  log: Log,
  onProgress: (done: number, total: number) => void,
): Promise<RewrapReport> {
  const serverSecret = presentServerSecret(config.data_dir, config.secret_key);
  const database = await openSecondDatabase({
    url: config.database_url,
    dataDir: databaseDirectory(config.data_dir),
    log,
  });
  try {
    const installation = await installationOf(database.query);
    const keys = await openMasterKeys(config, { serverSecret, installation });
    try {
      return await rewrapAll({ query: database.query, envelopes: new Envelopes(keys), onProgress });
    } finally {
      await keys.close();
    }
  } finally {
    await database.close();
  }
}
