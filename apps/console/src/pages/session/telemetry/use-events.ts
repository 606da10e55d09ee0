import type { Browser, TelemetryEnvelope } from "@shoal/schemas";
import { useEffect, useState } from "react";
import { useCanOperate, useSignedIn } from "../../../api/shoal.ts";

export interface SessionEvents {
  /** Oldest first; at most {@link maxEvents}, the newest. */
  readonly events: readonly TelemetryEnvelope[];
  /** Stored events are still arriving. */
  readonly isLoading: boolean;
  readonly error: unknown;
  /** Older events were dropped from the page. */
  readonly isCut: boolean;
}

export const maxEvents = 5000;
/** New events are shown together, because a page may cause hundreds per second. */
const drawMs = 100;
const noEvents: SessionEvents = { events: [], isLoading: false, error: undefined, isCut: false };
const nothing: SessionEvents = { ...noEvents, isLoading: true };

export interface EventWindow {
  /** A moment, in ISO 8601. */
  readonly since: string;
  /** Absent: events arrive until the session ends. */
  readonly until?: string | undefined;
}

/** Telemetry of a session or of a window of it: stored events first, then new ones until the end. None for viewers. */
export function useEvents(
  { session_id: id, created_at, deleted_at }: Browser,
  { since, until }: EventWindow = { since: created_at },
): SessionEvents {
  const { shoal } = useSignedIn();
  const canRead = useCanOperate();
  const isStored = deleted_at !== undefined || until !== undefined;
  const [state, setState] = useState(nothing);
  useEffect(() => {
    if (!canRead) return undefined;
    const reading = new AbortController();
    const { signal } = reading;
    let waiting: TelemetryEnvelope[] = [];
    let timer: number | undefined;
    const draw = (change: Partial<SessionEvents> = {}) => {
      clearTimeout(timer);
      timer = undefined;
      const added = waiting;
      waiting = [];
      setState((before) => {
        const all = [...before.events, ...added];
        const isCut = all.length > maxEvents || before.isCut;
        return { ...before, ...change, events: all.slice(-maxEvents), isCut };
      });
    };
    async function read(): Promise<void> {
      const source = isStored
        ? await shoal.browsers.telemetry.events(id, { since, until, limit: 100 }, { signal })
        : shoal.browsers.telemetry.stream(
            id,
            { replay: "all" },
            {
              signal,
              onCaughtUp: () => {
                draw({ isLoading: false });
              },
            },
          );
      const sinceMicroseconds = Date.parse(since) * 1000;
      for await (const event of source) {
        if (event.event.ts < sinceMicroseconds) continue;
        waiting.push(event);
        timer ??= window.setTimeout(draw, drawMs);
      }
    }
    read().then(
      () => {
        if (!signal.aborted) draw({ isLoading: false });
      },
      (error: unknown) => {
        if (!signal.aborted) draw({ isLoading: false, error });
      },
    );
    return () => {
      reading.abort();
      clearTimeout(timer);
      setState(nothing);
    };
  }, [canRead, shoal, id, since, until, isStored]);
  return canRead ? state : noEvents;
}
