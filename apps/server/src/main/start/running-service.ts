import type { PlacementKind } from "@shoal/placement";
import type { Server } from "node:http";
import type { Config } from "../../config/settings.ts";
import type { ReloadReport } from "../../config/reload.ts";
import type { InFlight } from "../../http/in-flight.ts";
import { type Log, setLevel } from "../../observability/log/log.ts";
import type { Observation } from "../../observability/observation.ts";
import type { Sessions } from "../../sessions/browsers/sessions.ts";
import type { BrowserPools } from "../../sessions/pools/pools.ts";
import type { Rules } from "../rules.ts";
import type { RunningServer } from "../running-server.ts";
import type { Cleanup } from "./cleanup.ts";

export interface RunningServiceParts extends Pick<
  RunningServer,
  "apiKey" | "baseUrl" | "log" | "metricsUrl" | "newAdminKey"
> {
  readonly placement: PlacementKind;
  readonly browserPools: Pick<BrowserPools, "close">;
  readonly cleanup: Cleanup;
  readonly draining: AbortController;
  readonly inFlight: InFlight;
  readonly observation: Pick<Observation, "reopen">;
  readonly rules: Rules;
  readonly server: Server;
  readonly sessions: Pick<Sessions, "count" | "cut">;
}

export class RunningService implements RunningServer {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly newAdminKey: RunningServer["newAdminKey"];
  readonly placement: PlacementKind;
  readonly metricsUrl: string | undefined;
  readonly log: Log;
  readonly #parts: RunningServiceParts;
  #closing: Promise<void> | undefined;

  constructor(parts: RunningServiceParts) {
    this.#parts = parts;
    this.baseUrl = parts.baseUrl;
    this.apiKey = parts.apiKey;
    this.newAdminKey = parts.newAdminKey;
    this.placement = parts.placement;
    this.metricsUrl = parts.metricsUrl;
    this.log = parts.log;
  }

  reload(next: Config): ReloadReport {
    const { observation, rules } = this.#parts;
    const report = rules.take(next);
    setLevel(this.log, rules.inForce.log_level);
    observation.reopen();
    this.log.info(
      { applied: report.applied, needs_restart: report.needRestart },
      report.needRestart.length === 0
        ? "the settings were read again"
        : "the settings were read again; some need a restart",
    );
    return report;
  }

  sessionCount(): number {
    return this.#parts.sessions.count();
  }

  close(graceMs = this.#parts.rules.inForce.drain_seconds * 1000): Promise<void> {
    return (this.#closing ??= this.#close(graceMs));
  }

  async #close(graceMs: number): Promise<void> {
    const { browserPools, cleanup, draining, inFlight, rules, server, sessions } = this.#parts;
    draining.abort();
    this.log.info({}, "the service stops");
    const shutdownMs = rules.inForce.shutdown_seconds * 1000;
    const deadline = setTimeout(() => {
      sessions.cut();
    }, shutdownMs);
    // Requests waiting for a pool browser would delay shutdown.
    await browserPools.close();
    server.close();
    const left = await inFlight.settle(Math.min(graceMs, shutdownMs));
    if (left > 0) this.log.warn({ requests: left }, "requests were cut off: they took longer than drain_seconds");
    await cleanup.run();
    clearTimeout(deadline);
    this.log.info({}, "the service has stopped");
    this.log.flush();
  }
}
