import type { PlacementKind } from "@shoal/placement";
import type { Server } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Config } from "../../config/settings.ts";
import type { Replicas } from "../../cluster/join.ts";
import type { ReloadReport } from "../../config/reload.ts";
import type { InFlight } from "../../http/in-flight.ts";
import { type Log, setLevel } from "../../log/log.ts";
import type { Observation } from "../../observability/observation.ts";
import type { Sessions } from "../../sessions/browsers/sessions.ts";
import type { BrowserPools } from "../../sessions/pools/pools.ts";
import type { Rules } from "../rules.ts";
import type { RunningServer } from "../running-server.ts";
import type { Cleanup } from "./cleanup.ts";

const lookEveryMs = 200;

export interface RunningServiceParts extends Pick<
  RunningServer,
  "apiKey" | "baseUrl" | "log" | "metricsUrl" | "newAdminKey"
> {
  readonly placement: PlacementKind;
  readonly announceDrain: Replicas["announceDrain"];
  readonly browserPools: Pick<BrowserPools, "close" | "drain">;
  readonly cleanup: Cleanup;
  readonly draining: AbortController;
  readonly inFlight: InFlight;
  readonly observation: Pick<Observation, "reopen">;
  readonly rules: Rules;
  readonly server: Server;
  readonly sessions: Pick<Sessions, "count" | "cut" | "drain" | "isDraining">;
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

  drain(): void {
    if (!this.#parts.sessions.isDraining) this.#drain(undefined);
  }

  #drain(forMs: number | undefined): void {
    const { announceDrain, browserPools, sessions } = this.#parts;
    // For shoal doctor alone: a drain does not wait for the database.
    announceDrain(forMs).catch((error: unknown) => {
      this.log.warn({ err: error }, "the drain could not be written to the database");
    });
    if (sessions.isDraining) return;
    sessions.drain();
    browserPools.drain();
    this.log.info({ sessions: sessions.count() }, "the server drains: it starts no more sessions");
  }

  close(graceMs = this.#parts.rules.inForce.drain_seconds * 1000): Promise<void> {
    return (this.#closing ??= this.#close(graceMs));
  }

  async #close(graceMs: number): Promise<void> {
    const { browserPools, cleanup, draining, inFlight, rules, server, sessions } = this.#parts;
    await this.#waitForSessions(rules.inForce.session_drain_seconds * 1000);
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

  async #waitForSessions(ms: number): Promise<void> {
    const { sessions } = this.#parts;
    if (ms === 0) return;
    this.#drain(ms);
    const deadlineMs = performance.now() + ms;
    while (sessions.count() > 0 && performance.now() < deadlineMs) await delay(lookEveryMs);
    const left = sessions.count();
    if (left > 0) this.log.warn({ sessions: left }, "sessions are ended: they took longer than session_drain_seconds");
  }
}
