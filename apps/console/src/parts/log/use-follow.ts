import type { LogEvent } from "@shoal/schemas";
import { useEffect, useState } from "react";

export interface LogLine {
  readonly text: string;
  readonly source: string | undefined;
  readonly atMs: number;
}

interface Followed {
  /** Oldest first; the newest {@link maxLines}. */
  readonly lines: readonly LogLine[];
  readonly isReading: boolean;
  /** Stored lines are still arriving. */
  readonly isLoading: boolean;
  readonly error: unknown;
}

const maxLines = 5000;
/** Lines are drawn together, because a program may write thousands per second. */
const drawMs = 100;
const nothing: Followed = { lines: [], isReading: true, isLoading: true, error: undefined };

type FollowedEvent = LogEvent | { readonly event: string };

const isLog = (event: FollowedEvent): event is LogEvent => event.event === "log";

export interface FollowStream {
  readonly signal: AbortSignal;
  readonly onCaughtUp: () => void;
}

/**
 * Reads the lines of an event stream until it ends, or the page is left.
 *
 * @param open - opens the stream; the same function while the source is the same.
 * @param changed - receives the other events.
 */
export function useFollow(
  open: (options: FollowStream) => AsyncIterable<FollowedEvent>,
  changed: (event: FollowedEvent) => void,
): Followed {
  const [followed, setFollowed] = useState(nothing);
  useEffect(() => {
    const left = new AbortController();
    let waiting: LogLine[] = [];
    let timer: number | undefined;
    const draw = (end: Partial<Followed> = {}) => {
      clearTimeout(timer);
      timer = undefined;
      const added = waiting;
      waiting = [];
      setFollowed((before) => ({ ...before, ...end, lines: [...before.lines, ...added].slice(-maxLines) }));
    };
    async function read(): Promise<void> {
      const onCaughtUp = () => {
        draw({ isLoading: false });
      };
      for await (const event of open({ signal: left.signal, onCaughtUp })) {
        if (!isLog(event)) changed(event);
        else {
          waiting.push({ text: event.message, source: event.source, atMs: Date.parse(event.timestamp) });
          timer ??= window.setTimeout(draw, drawMs);
        }
      }
    }
    read().then(
      () => {
        draw({ isReading: false, isLoading: false });
      },
      (error: unknown) => {
        if (!left.signal.aborted) draw({ isReading: false, isLoading: false, error });
      },
    );
    return () => {
      left.abort();
      clearTimeout(timer);
      setFollowed(nothing);
    };
  }, [open, changed]);
  return followed;
}
