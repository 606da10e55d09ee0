import { join } from "node:path";
import { completeConfig } from "../config/config.ts";
import type { Settings } from "../config/settings.ts";
import type { RunningServer, StartOptions } from "../main/running-server.ts";
import { startServer } from "../main/server.ts";
import type { TestServer } from "./test-server.ts";
import { unlimited } from "./unlimited.ts";

export const sharedSecret = "the same on both servers, 32 characters";

/** Starts another server with the database of the first one, which must use {@link sharedSecret}. */
export function startSecondServer(
  first: TestServer,
  settings: Settings = {},
  options: Pick<StartOptions, "appRuntime" | "aroundPlacement"> = {},
): Promise<RunningServer> {
  const config = completeConfig({
    data_dir: join(first.dataDir, "..", "second"),
    secret_key: sharedSecret,
    port: 0,
    placement: "process",
    warm: 0,
    log_level: "silent",
    ...unlimited,
    ...settings,
  });
  return startServer(config, { ...options, database: { ...first.database, close: () => Promise.resolve() } });
}
