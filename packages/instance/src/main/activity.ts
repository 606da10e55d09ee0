export interface Activity {
  /** Time of the last use, in milliseconds since 1970; `null` while the instance is in use. */
  readonly idleSinceMs: number | null;
  /** Counts a use. The returned function ends it and may be called again. */
  begin(): () => void;
  /** Starts the idle timer, now or at the end of the last use. Restarts it when called again. */
  limit(timeoutMs: number): void;
  stop(): void;
}

export interface ActivityOptions {
  /** Of several changes within {@link quietMs}, only the last is reported. */
  readonly onChange: (idleSinceMs: number | null) => void;
  readonly onTimeout: () => void;
}

/** A client that makes many short calls must not cause two events for each. */
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
    // Timers use a monotonic clock, unlike the reported time.
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
