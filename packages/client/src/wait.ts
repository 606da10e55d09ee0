import {
  ApiError,
  ConnectionError,
  ContractError,
  pause,
  TimeoutError,
  type CallOptions,
  type EventStream,
  type StreamOptions,
} from "@shoal/transport";

/** How to wait for an end state. */
export interface WaitOptions<State, Event = never> {
  /** Stops waiting, which then rejects with the signal's own reason. What is waited for goes on. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds to wait in all; no limit when absent. */
  readonly totalTimeoutMs?: number | undefined;
  /** Milliseconds between two looks where the events cannot be had; 1000 when absent. */
  readonly pollIntervalMs?: number | undefined;
  /** Told the state when waiting begins, and each time that its status changes. What it throws, the wait rejects with. */
  readonly onState?: ((state: State) => void) | undefined;
  /** Told what else is heard while the events can be had: log lines, errors. What it throws, the wait rejects with. */
  readonly onEvent?: ((event: Event) => void) | undefined;
}

/** What is waited for, and how it is looked at. */
interface Subject<State, Event> {
  /** For messages: `deployments.wait`. */
  readonly operation: string;
  get(options: CallOptions): Promise<State>;
  follow(options: StreamOptions): EventStream<Event>;
  /** The state that an event tells of; `undefined` where it tells of none. */
  stateOf(event: Event): State | undefined;
  /** Changes where there is something to report. */
  statusOf(state: State): string;
  isFinal(state: State): boolean;
}

const defaultPollIntervalMs = 1000;
/** Node fires a timer that is set further off at once. */
const maxTimerMs = 2_147_483_647;

/**
 * Waits until a state is final: by the event stream, and by looking from time to time where that cannot be had.
 *
 * @throws {TimeoutError} after `totalTimeoutMs`; what `get` rejects with; the signal's reason.
 */
export async function waitFor<State, Event>(subject: Subject<State, Event>, options: WaitOptions<State, Event>): Promise<State> {
  const { pollIntervalMs = defaultPollIntervalMs, signal: callerSignal, totalTimeoutMs } = options;
  const timeout = new AbortController();
  const signal = callerSignal === undefined ? timeout.signal : AbortSignal.any([timeout.signal, callerSignal]);
  signal.throwIfAborted();
  const timer =
    totalTimeoutMs === undefined || totalTimeoutMs > maxTimerMs
      ? undefined
      : setTimeout(() => {
          timeout.abort(
            new TimeoutError(
              `${subject.operation} timed out after ${totalTimeoutMs} ms in all, before there was an end. Raise totalTimeoutMs if it needs longer.`,
              totalTimeoutMs,
            ),
          );
        }, totalTimeoutMs);
  let status: string | undefined;
  const report = (state: State): State => {
    const now = subject.statusOf(state);
    if (now !== status) options.onState?.(state);
    status = now;
    return state;
  };
  try {
    const heard = await byEvents(subject, { ...options, signal, report });
    if (heard !== undefined) return heard;
    for (;;) {
      const state = report(await subject.get({ signal }));
      if (subject.isFinal(state)) return state;
      await pause(pollIntervalMs, signal);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** The final state; `undefined` where the stream cannot be had, or ends before there is one. */
async function byEvents<State, Event>(
  subject: Subject<State, Event>,
  options: { signal: AbortSignal; report: (state: State) => State; onEvent?: ((event: Event) => void) | undefined },
): Promise<State | undefined> {
  const { onEvent, report, signal } = options;
  const stream = subject.follow({ signal });
  // Not `await using`, whose helper is larger than this function in a bundle.
  try {
    for (;;) {
      const result = await stream.next().catch((error: unknown) => {
        if (signal.aborted || !canPollAfter(error)) throw error;
        return undefined;
      });
      if (result === undefined || result.done === true) return undefined;
      const state = subject.stateOf(result.value);
      if (state === undefined) onEvent?.(result.value);
      else if (subject.isFinal(report(state))) return state;
    }
  } finally {
    await stream.close();
  }
}

/** Whether the same thing may be seen by asking for it. A missing key or object is missing there too. */
function canPollAfter(error: unknown): boolean {
  if (ApiError.isInstance(error)) return ![400, 401, 403, 404].includes(error.status);
  return ConnectionError.isInstance(error) || TimeoutError.isInstance(error) || ContractError.isInstance(error);
}
