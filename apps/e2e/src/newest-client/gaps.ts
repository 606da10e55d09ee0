/** Why an operation or a request field of the newest client is not served. */
export type Gap = "missing" | `refused: ${string}`;

const vaults = "missing";
const registry = "refused: it rests on the shared knowledge of a hosted service";

/** By the beginning of the path. */
export const operationGaps: Readonly<Record<string, Gap>> = {
  "/browsers/{id_or_name}/playwright/executors": "missing",
  "/browsers/{id_or_name}/repl": "missing",
  "/browsers/{id_or_name}/webmcp": "missing",
  "/config-registry": registry,
  "/search": "missing",
  "/vault-provider-configs": vaults,
  "/vaults": vaults,
};

/** By the path of the field, or its end. A field with fields stands for all of them. */
export const fieldGaps: Readonly<Record<string, Gap>> = {
  "browser.control.cdp": "missing",
  "browser.platform": "missing",
  "browser.region": "missing",
  executor: "missing",
  location: "missing",
  skill_mode: "missing",
  "telemetry.storage": "missing",
  "browser_telemetry.storage": "missing",
  vaults,
  video_memory: "refused: sessions have no GPU",
};
