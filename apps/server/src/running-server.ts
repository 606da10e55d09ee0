import type { Database } from "@shoal/database";
import type { Placement, PlacementKind } from "@shoal/placement";
import type { DestinationStream } from "pino";
import type { Config } from "./config/config.ts";
import type { ReloadReport } from "./config/reload.ts";
import type { Log } from "./log.ts";

/** A service that answers. */
export interface RunningServer {
  /** Where it listens: `http://127.0.0.1:7777`. */
  readonly baseUrl: string;
  /** The organisation-wide key that is stored in the data folder; absent when that file was lost. */
  readonly apiKey: string | undefined;
  /** The admin key, when this start made it: show it once. It also lies, mode 0600, in `path`. */
  readonly newAdminKey: { readonly apiKey: string; readonly path: string } | undefined;
  /** Where sessions run; `process` isolates nothing. */
  readonly placement: PlacementKind;
  /** Where Prometheus finds the metrics; absent unless they have a port of their own. */
  readonly metricsUrl: string | undefined;
  readonly log: Log;
  /**
   * Takes other settings while it runs: those of `reloadable`, and opens the access log anew. The others hold until a restart.
   *
   * @param config - all of the settings, as `loadConfig` reads them.
   */
  reload(config: Config): ReloadReport;
  /** Number of sessions that run on this server, those that are starting included. */
  sessionCount(): number;
  /**
   * Takes no more requests, finishes those in flight, ends every session as `server_stopped`, and lets go of the database and the data folder.
   * Sessions that take longer than `shutdown_seconds` are killed. May be called again.
   *
   * @param graceMs - how long requests in flight may take; `drain_seconds` when absent.
   */
  close(graceMs?: number): Promise<void>;
}

/** What a program that embeds the service may bring along. */
export interface StartOptions {
  /** Takes the log instead of stderr. */
  readonly logTo?: DestinationStream;
  /** Used instead of the one that the settings name; closed with the service. */
  readonly database?: Database;
  /** Stands between the service and the instances of its sessions: what it returns is used in place of what it is given. */
  readonly aroundPlacement?: (placement: Placement) => Placement;
}
