import { recentlyUsed } from "../../../storage/recently-used.ts";
import type { Log } from "../../../log/log.ts";

export interface Trouble {
  readonly destinationId: string;
  readonly projectId: string;
  /** For the operator; contains no data of the destination. */
  readonly why: string;
  readonly dropped?: number;
  readonly rejected?: number;
}

/** Logs failures with their counts, at most once per interval and destination. */
export interface Troubles {
  note(trouble: Trouble): void;
  close(): void;
}

interface Unsaid extends Required<Trouble> {
  readonly saidAtMs: number;
  readonly isSaid: boolean;
}

const everyMs = 60_000;

export function createTroubles(log: Log): Troubles {
  const known = recentlyUsed<Unsaid>(10_000);

  function say(trouble: Unsaid): void {
    const { destinationId, projectId, why, dropped, rejected } = trouble;
    log.warn(
      {
        destination_id: destinationId,
        project_id: projectId,
        reason: why,
        dropped_events: dropped,
        rejected_events: rejected,
      },
      "telemetry could not be sent to its destination",
    );
    known.set(destinationId, { ...trouble, dropped: 0, rejected: 0, isSaid: true, saidAtMs: performance.now() });
  }
  function sayRest(): void {
    for (const trouble of [...known.values()]) if (!trouble.isSaid) say(trouble);
  }
  const timer = setInterval(sayRest, everyMs).unref();

  return {
    note({ dropped = 0, rejected = 0, ...trouble }) {
      const before = known.peek(trouble.destinationId);
      const sum = {
        ...trouble,
        dropped: (before?.dropped ?? 0) + dropped,
        rejected: (before?.rejected ?? 0) + rejected,
        isSaid: false,
        saidAtMs: before?.saidAtMs ?? -Infinity,
      };
      if (performance.now() - sum.saidAtMs >= everyMs) say(sum);
      else known.set(trouble.destinationId, sum);
    },
    close() {
      clearInterval(timer);
      sayRest();
    },
  };
}
