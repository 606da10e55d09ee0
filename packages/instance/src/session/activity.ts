/** Knows whether anybody uses the instance, and ends it when nobody has for long enough. */
export interface Activity {
  /** Milliseconds since 1970 since when nobody uses it; `null` while somebody does. */
  readonly idleSinceMs: number | null;
  /** Counts a use; the function that it returns ends it and may be called more than once. */
  begin(): () => void;
  /** Starts the timer; the time that counts begins now, or when the last use ends. Called again, it starts anew. */
  limit(timeoutMs: number): void;
  /** Stops the timer for good. */
  stop(): void;
}

export interface ActivityOptions {
  /** Called when use begins or ends; of changes that follow one another fast only the last is told, after {@link quietMs}. */
  readonly onChange: (idleSinceMs: number | null) => void;
  /** Called once, when nobody has used the instance for the time given to `limit`. */
  readonly onTimeout: () => void;
}

/** A client that makes many short calls is not to cause two events for each. */
const quietMs = 100;

export function trackActivity({ onChange, onTimeout }: ActivityOptions): Activity {
  let uses = 0;
  let idleSinceMs: number | null = Date.now();
  let told: number | null = idleSinceMs;
  let quiet: NodeJS.Timeout | undefined;
  let timeoutMs: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  function tell(): void {
    if (quiet !== undefined || told === idleSinceMs) return;
    told = idleSinceMs;
    onChange(told);
    quiet = setTimeout(() => {
      quiet = undefined;
      tell();
    }, quietMs).unref();
  }

  function arm(): void {
    clearTimeout(timer);
    // A timer counts on a clock that nobody sets, unlike the time that is told.
    timer = timeoutMs === undefined || uses > 0 ? undefined : setTimeout(onTimeout, timeoutMs);
  }

  return {
    get idleSinceMs() {
      return idleSinceMs;
    },
    begin() {
      uses++;
      idleSinceMs = null;
      clearTimeout(timer);
      tell();
      let ended = false;
      return () => {
        if (ended) return;
        ended = true;
        uses--;
        if (uses > 0) return;
        idleSinceMs = Date.now();
        arm();
        tell();
      };
    },
    limit(limitMs) {
      timeoutMs = limitMs;
      if (uses === 0) idleSinceMs = Date.now();
      arm();
      tell();
    },
    stop() {
      timeoutMs = undefined;
      clearTimeout(timer);
      clearTimeout(quiet);
    },
  };
}
