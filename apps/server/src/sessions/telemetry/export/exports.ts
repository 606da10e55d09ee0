import type { OutboundRule } from "@shoal/placement";
import { recentlyUsed } from "../../../storage/recently-used.ts";
import pLimit, { type LimitFunction } from "p-limit";
import pTimeout from "p-timeout";
import type { Log } from "../../../log/log.ts";
import type { Collector } from "../collector.ts";
import type { TelemetryStore } from "../telemetry-store.ts";
import type { DeliveryRecords } from "../../../resources/telemetry-destinations/delivery-records.ts";
import type {
  DestinationAddress,
  TelemetryDestinations,
} from "../../../resources/telemetry-destinations/destinations.ts";
import { createSender, type Sender, type SendResult } from "./send.ts";
import { type ExportCounter, exportSession, type SessionExport } from "./session-export.ts";
import { createTroubles, type Troubles } from "./troubles.ts";

export interface ExportedSession {
  readonly id: string;
  readonly project_id: string;
  readonly name: string | null;
  readonly tags: Readonly<Record<string, string>>;
}

/** Since this server started. */
export interface ExportTotals {
  readonly sent: number;
  /** Events that the destination rejected within an accepted request. */
  readonly rejected: number;
  readonly dropped: number;
  readonly retries: number;
  /** Includes ended sessions whose last events are being sent. */
  readonly open: number;
}

export interface TelemetryExportParts {
  readonly destinations: Pick<TelemetryDestinations, "addressOf">;
  readonly deliveries: Pick<DeliveryRecords, "close" | "failed" | "taken">;
  readonly rule: OutboundRule;
  readonly store: Pick<TelemetryStore, "read">;
  readonly serverId: string;
  readonly log: Log;
}

const closeMs = 5_000;
/** Per destination; bounds the memory for telemetry of all sessions. */
const maxRequests = 2;

function resourceOf({ id, project_id, name, tags }: ExportedSession, serverId: string): Record<string, string> {
  return {
    "service.instance.id": serverId,
    "shoal.session.id": id,
    "shoal.project.id": project_id,
    ...(name !== null && { "shoal.session.name": name }),
    ...Object.fromEntries(Object.entries(tags).map(([key, value]) => [`shoal.session.tag.${key}`, value])),
  };
}

export class TelemetryExports {
  readonly #destinations: Pick<TelemetryDestinations, "addressOf">;
  readonly #deliveries: TelemetryExportParts["deliveries"];
  readonly #store: Pick<TelemetryStore, "read">;
  readonly #serverId: string;
  readonly #sender: Sender;
  readonly #open = new Map<SessionExport, string>();
  readonly #gates = recentlyUsed<LimitFunction>(10_000);
  readonly #totals = { sent: 0, rejected: 0, dropped: 0, retries: 0 };
  readonly #troubles: Troubles;

  constructor({ deliveries, destinations, rule, store, serverId, log }: TelemetryExportParts) {
    this.#deliveries = deliveries;
    this.#destinations = destinations;
    this.#store = store;
    this.#serverId = serverId;
    this.#sender = createSender(rule);
    this.#troubles = createTroubles(log);
  }

  /** @param session - read for each request. */
  open(destinationId: string, collector: Collector, session: () => ExportedSession): SessionExport {
    const { id, project_id: projectId } = session();
    const exporting = exportSession({
      events: {
        position: () => collector.position(),
        onKept: (listener) => collector.onKept(listener),
        read: (place, maxBytes) => this.#store.read(id, place, maxBytes),
      },
      destination: async () => this.#destinations.addressOf(destinationId),
      send: (to, lines, signal) => this.#send(to, { lines, resource: resourceOf(session(), this.#serverId) }, signal),
      gate: this.#gateOf(destinationId),
      counter: this.#counterOf(destinationId, projectId),
    });
    this.#open.set(exporting, id);
    void exporting.done.then(() => this.#open.delete(exporting));
    return exporting;
  }

  async #send(
    to: DestinationAddress,
    events: { readonly lines: readonly string[]; readonly resource: Record<string, string> },
    signal: AbortSignal,
  ): Promise<{ readonly result: SendResult; readonly rejected: number }> {
    // Servers without exports do not load the encoder.
    const [{ recordOf }, { contentType, encodeRecords, rejectedIn }] = await Promise.all([
      import("./log-records.ts"),
      import("./otlp-body.ts"),
    ]);
    const { lines, resource } = events;
    let body: Uint8Array;
    try {
      body = encodeRecords(
        lines.flatMap((line) => recordOf(line) ?? []),
        resource,
      );
    } catch {
      // A retry would fail again.
      return { result: { outcome: "refused", why: "they could not be encoded" }, rejected: 0 };
    }
    const result = await this.#sender.send(to, body, { contentType, signal });
    if (result.outcome === "taken") this.#deliveries.taken(to.id);
    else this.#deliveries.failed(to.id, result.why);
    return {
      result,
      rejected: result.outcome === "taken" ? Math.min(lines.length, rejectedIn(result.answer)) : 0,
    };
  }

  #counterOf(destinationId: string, projectId: string): ExportCounter {
    const place = { destinationId, projectId };
    return {
      sent: (events) => {
        this.#totals.sent += events;
      },
      rejected: (events) => {
        this.#totals.rejected += events;
        this.#troubles.note({ ...place, why: "it rejected some of them", rejected: events });
      },
      dropped: (events, why) => {
        this.#totals.dropped += events;
        this.#troubles.note({ ...place, why, dropped: events });
      },
      retried: (why) => {
        this.#totals.retries += 1;
        this.#troubles.note({ ...place, why });
      },
    };
  }

  totals(): ExportTotals {
    return { ...this.#totals, open: this.#open.size };
  }

  /** Resolves when no export reads the events of the session any more. */
  async settled(sessionId: string): Promise<void> {
    const own = [...this.#open].filter(([, id]) => id === sessionId);
    await Promise.all(own.map(([exporting]) => exporting.done));
  }

  /** Sends remaining events for at most five seconds, then stops. */
  async close(): Promise<void> {
    const left = [...this.#open.keys()];
    const patience = setTimeout(() => {
      for (const exporting of left) exporting.giveUp();
    }, closeMs);
    for (const exporting of left) exporting.hurry();
    const done = Promise.all(left.map((exporting) => exporting.done));
    // Do not wait forever for a database or a disk.
    await pTimeout(done, { milliseconds: closeMs + 1_000, fallback: () => undefined });
    clearTimeout(patience);
    this.#sender.close();
    await this.#deliveries.close();
    this.#troubles.close();
  }

  #gateOf(destinationId: string): LimitFunction {
    const gate = this.#gates.get(destinationId) ?? pLimit(maxRequests);
    this.#gates.set(destinationId, gate);
    return gate;
  }
}
