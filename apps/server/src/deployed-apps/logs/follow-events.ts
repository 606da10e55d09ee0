import type { StreamFrame } from "@shoal/router";
import type { HeartbeatEvent, LogEvent } from "@shoal/schemas";
import type { AppLogs, LogOwner } from "./app-logs.ts";
import { Bell } from "@shoal/primitives";
import { readPosition, type StoredLine, writePosition } from "./chunk.ts";

/** The state of a deployment or an invocation, as events for its followers. */
export interface FollowedState<Event> {
  /** Differs from the previous state's when the events must be sent. */
  readonly key: string;
  readonly events: readonly Event[];
  /**
   * `first`: at once. `after_build`: after the lines of the build. `last`: after all lines; the stream then ends.
   */
  readonly order: "first" | "after_build" | "last";
}

export interface FollowOptions<Event> {
  readonly logs: AppLogs;
  readonly owner: LogOwner;
  readonly since: Date | undefined;
  readonly lastEventId: string | undefined;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Reads the state. */
  look(): Promise<FollowedState<Event>>;
  /** Calls `listener` after changes of the state. @returns a function that stops. */
  onChange(listener: () => void): () => void;
}

/** The vendor's command stops after 3 s without an event, so heartbeats must be rarer. */
const heartbeatMs = 15_000;

/** States, log lines in order, and heartbeats. All lines that were stored before the last state come before it. */
export async function* followEvents<Event>(
  options: FollowOptions<Event>,
): AsyncGenerator<StreamFrame<Event | LogEvent | HeartbeatEvent>, void, undefined> {
  const { logs, owner, signal } = options;
  const bell = new Bell();
  const ring = (): void => {
    bell.ring();
  };
  const stops = [logs.onLines(owner, ring), options.onChange(ring)];
  signal.addEventListener("abort", ring);
  try {
    const after = readPosition(options.lastEventId);
    const reader = logs.reader(owner, { since: options.since, after });
    let id = after === undefined ? "0.0" : writePosition(after);
    let sent: string | undefined;
    let isCaughtUp = false;
    while (!signal.aborted) {
      // Before the lines, so that the last state follows every line.
      const state = await options.look();
      let isPending = state.key !== sent;
      const flush = function* (): Generator<StreamFrame<Event>> {
        if (isPending) for (const data of state.events) yield { id, data };
        isPending = false;
        sent = state.key;
      };
      if (state.order === "first") yield* flush();
      const lines = await reader.read();
      for (const line of lines) {
        if (state.order === "after_build" && line.invocation_id !== undefined) yield* flush();
        id = writePosition(line.position);
        yield { id, data: toEvent(line) };
      }
      if (lines.length > 0) continue;
      yield* flush();
      if (state.order === "last") return;
      if (!isCaughtUp) yield { id, caughtUp: true };
      isCaughtUp = true;
      if (!(await bell.wait(heartbeatMs)))
        yield { id, data: { event: "sse_heartbeat", timestamp: new Date().toISOString() } };
    }
  } finally {
    for (const stop of stops) stop();
    signal.removeEventListener("abort", ring);
  }
}

function toEvent({ at, source, text }: StoredLine): LogEvent {
  return { event: "log", message: text, source, timestamp: at.toISOString() };
}
