import { Counter, type Registry } from "prom-client";
import type { Charge } from "../usage/usage-charges.ts";

const others = "other";

/** The first projects that use sessions have their own label until the server stops; the rest share one. */
export class UsageMetrics {
  readonly #maxProjects: number;
  readonly #labelled = new Set<string>();
  readonly #seconds: Counter;
  readonly #bytes: Counter;

  constructor(registry: Registry, maxProjects: number) {
    this.#maxProjects = maxProjects;
    this.#seconds = new Counter({
      name: "shoal_usage_session_seconds_total",
      help: "Seconds of sessions that this server charged, by project id. Sum over all servers.",
      labelNames: ["project"],
      registers: [registry],
    });
    this.#bytes = new Counter({
      name: "shoal_usage_bytes_total",
      help: "Bytes of browsers that this server charged, by project id and direction. Sum over all servers.",
      labelNames: ["project", "direction"],
      registers: [registry],
    });
  }

  charged(charges: readonly Charge[]): void {
    for (const { bytes_received, bytes_sent, project_id, session_ms } of charges) {
      const project = this.#labelOf(project_id);
      this.#seconds.inc({ project }, session_ms / 1000);
      this.#bytes.inc({ project, direction: "sent" }, bytes_sent);
      this.#bytes.inc({ project, direction: "received" }, bytes_received);
    }
  }

  #labelOf(projectId: string): string {
    if (this.#labelled.size < this.#maxProjects) this.#labelled.add(projectId);
    return this.#labelled.has(projectId) ? projectId : others;
  }
}
