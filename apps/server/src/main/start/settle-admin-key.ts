import { contract } from "@shoal/contract";
import type { ApiKeys } from "../../resources/api-keys/api-keys.ts";
import { ownNote } from "../../audit/logs/follow.ts";
import type { AuditRecorder } from "../../audit/logs/recorder.ts";
import type { Config } from "../../config/settings.ts";
import { adminKeyPath, readAdminKey, writeAdminKey } from "../../config/admin-key.ts";
import type { Log } from "../../log/log.ts";

/** Returns the stored admin key; creates one at the first start or if the settings request it. */
export async function settleAdminKey(
  parts: { readonly config: Config; readonly apiKeys: ApiKeys; readonly recorder: AuditRecorder; readonly log: Log },
  baseUrl: string,
): Promise<{ apiKey: string | undefined; isNew: boolean }> {
  const { apiKeys, config, log, recorder } = parts;
  const reachable = config.public_url ?? baseUrl;
  const stored = readAdminKey(config.data_dir);
  if (!config.new_admin_key && stored !== undefined && (await apiKeys.isAdmin(stored.api_key))) {
    if (stored.base_url !== reachable) writeAdminKey(config.data_dir, { ...stored, base_url: reachable });
    return { apiKey: stored.api_key, isNew: false };
  }
  if (!config.new_admin_key && !(await apiKeys.isEmpty())) {
    log.warn(
      {},
      `${adminKeyPath(config.data_dir)} holds no valid admin key; start once with --new-admin-key to get another`,
    );
    return { apiKey: undefined, isNew: false };
  }
  const apiKey = await apiKeys.createAdmin();
  recorder.note(ownNote(contract.createApiKey, { status: 201, baseUrl: reachable }));
  await recorder.flush();
  writeAdminKey(config.data_dir, { base_url: reachable, api_key: apiKey });
  return { apiKey, isNew: true };
}
