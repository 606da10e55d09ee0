import { presentServerSecret } from "../config/data-dir.ts";
import { Envelopes } from "../storage/envelopes/envelopes.ts";
import { openMasterKeys } from "../storage/envelopes/master-keys.ts";
import { installationOf } from "../storage/envelopes/rewrap-command.ts";
import type { TestServer } from "./test-server.ts";

/** Envelopes with the keys of a server. @param secretKey - its setting `secret_key`. */
export async function envelopesOf(
  { database, dataDir }: Pick<TestServer, "database" | "dataDir">,
  secretKey?: string,
): Promise<Envelopes> {
  const serverSecret = presentServerSecret(dataDir, secretKey);
  const installation = await installationOf(database.query);
  return new Envelopes(await openMasterKeys({ master_key: "secret_key" }, { serverSecret, installation }));
}
