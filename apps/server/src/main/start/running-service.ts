import type { PlacementKind } from "@shoal/placement";
import { setTimeout as delay } from "node:timers/promises";
import type { ReloadReport } from "../../config/reload.ts";
import type { SettingsInForce } from "../../config/settings-in-force.ts";
import type { Config } from "../../config/settings.ts";
import { type Log, setLevel } from "../../log/log.ts";
import type { Sessions } from "../../sessions/browsers/sessions.ts";
import type { RunningServer } from "../running-server.ts";
import type { Started } from "./start-host.ts";
import type { Service } from "./start-service.ts";

const lookEveryMs = 200;
/** After `shutdown_seconds`. docs/service/shoal.service allows 30 seconds. */
const cleanupMs = 10_000;

type Announced = Pick<RunningServer, "apiKey" | "baseUrl" | "metricsUrl" | "newAdminKey">;

export class RunningService implements RunningServer {
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly newAdminKey: RunningServer["newAdminKey"];
  readonly placement: PlacementKind;
  readonly metricsUrl: string | undefined;
  readonly log: Log;
  readonly #started: Started;
  readonly #service: Service;
  readonly #sessions: Sessions;
  #closing: Promise<void> | undefined;

  constructor(started: Started, service: Service, announced: Announced) {
    this.#started = started;
    this.#service = service;
    this.#sessions = service.features.sessions.provides.sessions;
    this.baseUrl = announced.baseUrl;
    this.apiKey = announced.apiKey;
    this.newAdminKey = announced.newAdminKey;
    this.placement = service.placement.kind;
    this.metricsUrl = announced.metricsUrl;
    this.log = started.log;
  }

  get #settings(): SettingsInForce {
    return this.#service.host.settings;
  }

  reload(next: Config): ReloadReport {
    const report = this.#settings.take(next);
    setLevel(this.log, this.#settings.inForce.log_level);
    this.#service.features.observability.provides.reopen();
    this.log.info(
      { applied: report.applied, needs_restart: report.needRestart },
      report.needRestart.length === 0
        ? "the settings were read again"
        : "the settings were read again; some need a restart",
    );
    return report;
  }

  sessionCount(): number {
    return this.#sessions.count();
  }

  drain(): void {
    if (!this.#sessions.isDraining) this.#drain(undefined);
  }

  #drain(forMs: number | undefined): void {
    const { cluster, pools } = this.#service.features;
    // For shoal doctor alone: a drain does not wait for the database.
    cluster.provides.replicas.announceDrain(forMs).catch((error: unknown) => {
      this.log.warn({ err: error }, "the drain could not be written to the database");
    });
    if (this.#sessions.isDraining) return;
    this.#sessions.drain();
    pools.provides.drain();
    this.log.info({ sessions: this.#sessions.count() }, "the server drains: it starts no more sessions");
  }

  close(graceMs = this.#settings.inForce.drain_seconds * 1000): Promise<void> {
    return (this.#closing ??= this.#close(graceMs));
  }

  async #close(graceMs: number): Promise<void> {
    const { app, features, traffic } = this.#service;
    const { cleanup, stopping } = this.#started;
    await this.#waitForSessions(this.#settings.inForce.session_drain_seconds * 1000);
    stopping.abort();
    this.log.info({}, "the service stops");
    const shutdownMs = this.#settings.inForce.shutdown_seconds * 1000;
    const deadlineMs = performance.now() + shutdownMs + cleanupMs;
    const cut = setTimeout(() => {
      this.#sessions.cut();
    }, shutdownMs);
    cleanup.add("the requests in flight", async () => {
      // Requests waiting for a pool browser would delay shutdown.
      await features.pools.provides.close();
      app.server.close();
      const left = await traffic.inFlight.settle(Math.min(graceMs, shutdownMs));
      if (left > 0) this.log.warn({ requests: left }, "requests were cut off: they took longer than drain_seconds");
    });
    await cleanup.run(deadlineMs);
    clearTimeout(cut);
    this.log.info({}, "the service has stopped");
    this.log.flush();
  }

  async #waitForSessions(ms: number): Promise<void> {
    if (ms === 0) return;
    this.#drain(ms);
    const deadlineMs = performance.now() + ms;
    while (this.#sessions.count() > 0 && performance.now() < deadlineMs) await delay(lookEveryMs);
    const left = this.#sessions.count();
    if (left > 0) this.log.warn({ sessions: left }, "sessions are ended: they took longer than session_drain_seconds");
  }
}
