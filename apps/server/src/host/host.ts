import type { Database } from "@shoal/database";
import type { DataDir } from "../config/data-dir.ts";
import type { SettingsInForce } from "../config/settings-in-force.ts";
import type { Config } from "../config/settings.ts";
import type { Log } from "../log/log.ts";
import type { Blobs } from "../storage/blobs/blobs.ts";
import type { BlobArea } from "../storage/blobs/open-blobs.ts";
import type { Envelopes } from "../storage/envelopes/envelopes.ts";
import type { Secrets } from "../storage/secrets.ts";
import type { Cleanup } from "./cleanup.ts";

/** What every feature may use. */
export interface Host {
  /** The settings of the start. */
  readonly config: Config;
  /** The settings after the last reload. */
  readonly settings: SettingsInForce;
  readonly dataDir: DataDir;
  readonly serverId: string;
  readonly log: Log;
  readonly cleanup: Cleanup;
  readonly database: Database;
  readonly blobs: (area: BlobArea) => Blobs;
  readonly envelopes: Envelopes;
  readonly secrets: Secrets;
  /** Addresses of the other servers. */
  readonly otherServers: () => Iterable<string>;
  /** True from the moment when the service stops. */
  readonly isStopping: () => boolean;
  /** Aborts at this moment. */
  readonly stopping: AbortSignal;
}
