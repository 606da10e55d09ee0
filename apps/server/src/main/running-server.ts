import type { Database } from "@shoal/database";
import type { Placement, PlacementKind } from "@shoal/placement";
import type { DestinationStream } from "pino";
import type { SignIn } from "../auth/logins/sign-in.ts";
import type { OpenCredentialProvider } from "../auth/providers/credential-lookup.ts";
import type { AppRuntime } from "../deployed-apps/runtime/app-runtime.ts";
import type { Config } from "../config/settings.ts";
import type { ReloadReport } from "../config/reload.ts";
import type { Log } from "../log/log.ts";

/** A service that accepts requests. */
export interface RunningServer {
  readonly baseUrl: string;
  /** The organisation-wide key; absent if its file is missing. */
  readonly apiKey: string | undefined;
  /** Set if this start created the admin key: show it once. `path` (mode 0600) contains it too. */
  readonly newAdminKey: { readonly apiKey: string; readonly path: string } | undefined;
  readonly placement: PlacementKind;
  /** Absent without a separate port for metrics. */
  readonly metricsUrl: string | undefined;
  readonly log: Log;
  /** Applies the settings of `reloadable` and reopens the access log. Other settings need a restart. */
  reload(config: Config): ReloadReport;
  /** Returns the number of sessions that run on this server. */
  sessionCount(): number;
  /**
   * Starts no more sessions, and serves the running ones. Other servers of the region receive new sessions and fill the
   * pools. {@link close} ends this state.
   */
  drain(): void;
  /**
   * Waits up to `session_drain_seconds` for running sessions, as {@link drain}. Then drains requests, ends every session as `server_stopped`, and closes everything. Kills sessions that take longer
   * than `shutdown_seconds`. Later calls return the first promise.
   * @param graceMs - time for requests in flight; default `drain_seconds`.
   */
  close(graceMs?: number): Promise<void>;
}

/** Parts that tests and embedding programs replace. */
export interface StartOptions {
  readonly logTo?: DestinationStream;
  /** Replaces the database of the settings; closed with the service. */
  readonly database?: Database;
  /** Replaces the placement of the settings; closed with the service. */
  readonly placement?: Placement;
  /** Wraps the placement, for example to inject faults. */
  readonly aroundPlacement?: (placement: Placement) => Placement;
  readonly appRuntime?: AppRuntime;
  readonly signIn?: SignIn;
  /** Replaces what connects to secret stores. */
  readonly openCredentialProvider?: OpenCredentialProvider;
}
