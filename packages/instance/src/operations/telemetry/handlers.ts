import type { streamTelemetry } from "@shoal/contract";
import type { Handler, StreamFrame } from "@shoal/router";
import type { TelemetryEnvelope } from "@shoal/schemas";
import type { Telemetry } from "./telemetry.ts";

/** Handlers of `browsers.telemetry` in the instance; the service answers for past events. */
export interface TelemetryHandlers {
  readonly streamTelemetry: Handler<typeof streamTelemetry, unknown>;
}

/** @param load - returns the session's telemetry, created at the first call. */
export function telemetryHandlers(load: () => Promise<Telemetry>): TelemetryHandlers {
  return {
    streamTelemetry: async ({ lastEventId, query }) => {
      const frames = (await load()).stream(query.replay, lastEventId);
      const { type = [] } = query;
      return type.length === 0 ? frames : ofTypes(frames, new Set(type));
    },
  };
}

type Frame = StreamFrame<TelemetryEnvelope>;

/** While events are skipped, the position is sent in this interval, so that a reader that reconnects need not begin again. */
const positionMs = 15_000;

/** Only events of some types. Not a generator: `return` of a generator waits for the pending `next`, possibly forever. */
export function ofTypes(
  frames: AsyncIterable<Frame>,
  types: ReadonlySet<string>,
  now = () => performance.now(),
): AsyncIterableIterator<Frame, undefined> {
  const inner = frames[Symbol.asyncIterator]();
  let toldMs = now();
  let skipped: string | undefined;
  const position = (id: string): IteratorYieldResult<Frame> => {
    toldMs = now();
    skipped = undefined;
    return { done: false, value: { id, skipped: true } };
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      for (;;) {
        const step = await inner.next();
        if (step.done === true) return skipped === undefined ? { done: true, value: undefined } : position(skipped);
        const { value: frame } = step;
        if (!("data" in frame) || types.has(frame.data.event.type)) {
          skipped = undefined;
          return { done: false, value: frame };
        }
        skipped = frame.id;
        if (now() - toldMs >= positionMs) return position(frame.id);
      }
    },
    async return() {
      await inner.return?.();
      return { done: true, value: undefined };
    },
  };
}
