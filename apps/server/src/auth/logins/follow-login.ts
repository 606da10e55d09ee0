import { Bell } from "@shoal/primitives";
import type { StreamFrame } from "@shoal/router";
import type { HeartbeatEvent, ManagedAuthStateEvent } from "@shoal/schemas";

export interface FollowLoginOptions {
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** `undefined` when the connection was deleted or has no login. */
  readonly look: () => Promise<ManagedAuthStateEvent | undefined>;
  /** Calls `listener` after changes of the login. @returns a function that stops. */
  readonly onChange: (listener: () => void) => () => void;
}

const heartbeatMs = 15_000;

/** The state at once, then each change, and heartbeats; ends with the login. */
export async function* followLogin({
  look,
  onChange,
  signal,
}: FollowLoginOptions): AsyncGenerator<StreamFrame<HeartbeatEvent | ManagedAuthStateEvent>, void, undefined> {
  const bell = new Bell();
  const ring = (): void => {
    bell.ring();
  };
  const stop = onChange(ring);
  signal.addEventListener("abort", ring);
  try {
    let sent: string | undefined;
    let isCaughtUp = false;
    while (!signal.aborted) {
      const data = await look();
      if (data === undefined) return;
      const text = JSON.stringify({ ...data, timestamp: undefined });
      if (text !== sent) yield { id: data.timestamp, event: data.event, data };
      sent = text;
      if (data.flow_status !== "IN_PROGRESS") return;
      if (!isCaughtUp) yield { id: data.timestamp, caughtUp: true };
      isCaughtUp = true;
      if (!(await bell.wait(heartbeatMs))) {
        const timestamp = new Date().toISOString();
        yield { id: timestamp, event: "sse_heartbeat", data: { event: "sse_heartbeat", timestamp } };
      }
    }
  } finally {
    stop();
    signal.removeEventListener("abort", ring);
  }
}
