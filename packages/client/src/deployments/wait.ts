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

/** Options for waiting until a final state. */
export interface WaitOptions<State, Event = never> {
  /** Ends the wait, which then rejects with the signal's reason. The operation itself continues. */
  readonly signal?: AbortSignal | undefined;
  /** Total milliseconds to wait. Unlimited by default. */
  readonly totalTimeoutMs?: number | undefined;
  /** Milliseconds between polls when the event stream is unavailable. Default 1000. */
  readonly pollIntervalMs?: number | undefined;
  /** Called with the first state and at each change of status. Its exceptions reject the wait. */
  readonly onState?: ((state: State) => void) | undefined;
  /** Called for other events of the stream, for example log lines and errors. Its exceptions reject the wait. */
  readonly onEvent?: ((event: Event) => void) | undefined;
}

interface Subject<State, Event> {
  /** Name in error messages, for example `deployments.wait`. */
  readonly operation: string;
  get(options: CallOptions): Promise<State>;
  follow(options: StreamOptions): EventStream<Event>;
  /** `undefined` for events without a state. */
  stateOf(event: Event): State | undefined;
  /** A change of this value is reported. */
  statusOf(state: State): string;
  isFinal(state: State): boolean;
}

const defaultPollIntervalMs = 1000;
/** The longest delay of a timer in Node; longer ones fire immediately. */
const maxTimerMs = 2_147_483_647;

/** Uses the event stream; polls when it is unavailable. */
export async function waitFor<State, Event>(
  subject: Subject<State, Event>,
  options: WaitOptions<State, Event>,
): Promise<State> {
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

/** `undefined` when the stream is unavailable or ends early. */
async function byEvents<State, Event>(
  subject: Subject<State, Event>,
  options: { signal: AbortSignal; report: (state: State) => State; onEvent?: ((event: Event) => void) | undefined },
): Promise<State | undefined> {
  const { onEvent, report, signal } = options;
  const stream = subject.follow({ signal });
  // `await using` adds a helper to bundles that is larger than this function.
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

/** True when polling may succeed after this failure of the stream. A missing key or object would fail again. */
function canPollAfter(error: unknown): boolean {
  if (ApiError.isInstance(error)) return ![400, 401, 403, 404].includes(error.status);
  return ConnectionError.isInstance(error) || TimeoutError.isInstance(error) || ContractError.isInstance(error);
}
