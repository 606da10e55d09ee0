import type { NetworkRequest } from "../telemetry/requests.ts";

/** Place of a request in the time of its document; both 0 to 1. */
export interface Bar {
  readonly start: number;
  readonly width: number;
  /** Milliseconds after the first request of the document. */
  readonly afterMs: number;
}

/** Requests of one document share a scale, so that a page of two seconds is readable in a session of hours. */
export function barsOf(requests: readonly NetworkRequest[], nowMs: number): Map<number, Bar> {
  const scales = new Map<string, { from: number; to: number }>();
  const endOf = ({ durationMs, startedMs }: NetworkRequest) =>
    durationMs === undefined ? Math.max(nowMs, startedMs) : startedMs + durationMs;
  for (const request of requests) {
    const scale = scales.get(request.loader ?? "");
    if (scale === undefined) scales.set(request.loader ?? "", { from: request.startedMs, to: endOf(request) });
    else {
      scale.from = Math.min(scale.from, request.startedMs);
      scale.to = Math.max(scale.to, endOf(request));
    }
  }
  const bars = new Map<number, Bar>();
  for (const request of requests) {
    const { from, to } = scales.get(request.loader ?? "") ?? { from: 0, to: 0 };
    const length = Math.max(1, to - from);
    bars.set(request.seq, {
      start: (request.startedMs - from) / length,
      width: (endOf(request) - request.startedMs) / length,
      afterMs: request.startedMs - from,
    });
  }
  return bars;
}
