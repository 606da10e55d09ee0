import { join } from "node:path";
import { completeConfig } from "../config/config.ts";
import type { Settings } from "../config/settings.ts";
import type { RunningServer } from "../running-server.ts";
import { startServer } from "../server.ts";
import type { TestServer } from "./test-server.ts";
import { unlimited } from "./unlimited.ts";

/** Both servers need the same. */
export const sharedSecret = "the same on both servers, 32 characters";

/** Another server over the database of the first one, which must have been started with {@link sharedSecret}. */
export function startSecondServer(first: TestServer, settings: Settings = {}): Promise<RunningServer> {
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
  return startServer(config, { database: { ...first.database, close: () => Promise.resolve() } });
}
