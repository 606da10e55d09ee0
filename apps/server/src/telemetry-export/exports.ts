import type { OutboundRule } from "@shoal/placement";
import { LRUCache } from "lru-cache";
import type { Log } from "../log.ts";
import type { Collector } from "../telemetry/collector.ts";
import type { TelemetryStore } from "../telemetry/telemetry-store.ts";
import type { TelemetryDestinations } from "../telemetry-destinations/destinations.ts";
import { createSender } from "./send.ts";
import { exportSession, type SessionExport } from "./session-export.ts";
import { createTroubles } from "./troubles.ts";

/** The session that telemetry is of, as its records tell it. */
export interface ExportedSession {
  readonly id: string;
  readonly project_id: string;
  readonly name: string | null;
  readonly tags: Readonly<Record<string, string>>;
}

/** Events of this server's sessions, since it started. */
export interface ExportTotals {
  readonly sent: number;
  /** The destination took the request, but not these. */
  readonly rejected: number;
  readonly dropped: number;
  /** Requests that had to be repeated. */
  readonly retries: number;
  /** Sessions that send to a destination now, ended ones among them whose last events are on their way. */
  readonly open: number;
}

/** Sends the telemetry of this server's sessions to their destinations. */
export interface TelemetryExports {
  /** Begins with what a session's collector keeps from now on. @param session - as it is at each request. */
  open(destinationId: string, collector: Collector, session: () => ExportedSession): SessionExport;
  totals(): ExportTotals;
  /** Sends what is left, for at most five seconds, and takes no more. */
  close(): Promise<void>;
}

export interface TelemetryExportParts {
  readonly destinations: Pick<TelemetryDestinations, "addressOf">;
  readonly rule: OutboundRule;
  readonly store: Pick<TelemetryStore, "read">;
  readonly serverId: string;
  readonly log: Log;
}

const closeMs = 5_000;
/** Requests to one destination at once: so much of all sessions' telemetry is in memory. */
const maxRequests = 2;

/** Lets so many run at once, in the order in which they came. */
function createGate(places: number): <T>(run: () => Promise<T>) => Promise<T> {
  const queue: (() => void)[] = [];
  let free = places;
  return async (run) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => queue.push(resolve));
    try {
      return await run();
    } finally {
      const next = queue.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}

function resourceOf({ id, project_id, name, tags }: ExportedSession, serverId: string): Record<string, string> {
  return {
    "service.instance.id": serverId,
    "shoal.session.id": id,
    "shoal.project.id": project_id,
    ...(name !== null && { "shoal.session.name": name }),
    ...Object.fromEntries(Object.entries(tags).map(([key, value]) => [`shoal.session.tag.${key}`, value])),
  };
}

export function createTelemetryExports({ destinations, rule, store, serverId, log }: TelemetryExportParts): TelemetryExports {
  const sender = createSender(rule);
  const open = new Set<SessionExport>();
  const gates = new LRUCache<string, ReturnType<typeof createGate>>({ max: 10_000 });
  const totals = { sent: 0, rejected: 0, dropped: 0, retries: 0 };
  const troubles = createTroubles(log);

  function gateOf(destinationId: string): ReturnType<typeof createGate> {
    const gate = gates.get(destinationId) ?? createGate(maxRequests);
    gates.set(destinationId, gate);
    return gate;
  }

  return {
    open(destinationId, collector, session) {
      const { id, project_id: projectId } = session();
      const exporting = exportSession({
        events: {
          position: () => collector.position(),
          onKept: (listener) => collector.onKept(listener),
          read: (place, maxBytes) => store.read(id, place, maxBytes),
        },
        destination: async () => destinations.addressOf(destinationId),
        async send(to, lines, signal) {
          // Only those who export need the encoder.
          const [{ recordOf }, { contentType, encodeRecords, rejectedIn }] = await Promise.all([
            import("./log-records.ts"),
            import("./otlp-body.ts"),
          ]);
          let body: Uint8Array;
          try {
            body = encodeRecords(
              lines.flatMap((line) => recordOf(line) ?? []),
              resourceOf(session(), serverId),
            );
          } catch {
            // It would fail again.
            return { result: { outcome: "refused", why: "they could not be encoded" }, rejected: 0 };
          }
          const result = await sender.send(to, body, { contentType, signal });
          return { result, rejected: result.outcome === "taken" ? Math.min(lines.length, rejectedIn(result.answer)) : 0 };
        },
        gate: gateOf(destinationId),
        counter: {
          sent(events) {
            totals.sent += events;
          },
          rejected(events) {
            totals.rejected += events;
            troubles.note({ destinationId, projectId, why: "it rejected some of them", rejected: events });
          },
          dropped(events, why) {
            totals.dropped += events;
            troubles.note({ destinationId, projectId, why, dropped: events });
          },
          retried(why) {
            totals.retries += 1;
            troubles.note({ destinationId, projectId, why });
          },
        },
      });
      open.add(exporting);
      void exporting.done.then(() => open.delete(exporting));
      return exporting;
    },

    totals: () => ({ ...totals, open: open.size }),

    async close() {
      const left = [...open];
      const timeout = Promise.withResolvers<undefined>();
      const timers = [
        setTimeout(() => {
          for (const exporting of left) exporting.giveUp();
        }, closeMs),
        // A database or a disk that does not answer cannot be given up.
        setTimeout(timeout.resolve, closeMs + 1_000, undefined),
      ];
      for (const exporting of left) exporting.hurry();
      await Promise.race([Promise.all(left.map(({ done }) => done)), timeout.promise]);
      for (const timer of timers) clearTimeout(timer);
      sender.close();
      troubles.close();
    },
  };
}
