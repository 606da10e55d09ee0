/** `awake`: or ended. `answered`: the instance answered again, `wakeMs` after the first byte for it. */
export type SleepChange =
  | { readonly type: "asleep"; readonly sinceMs: number }
  | { readonly type: "awake"; readonly sleptMs: number }
  | { readonly type: "answered"; readonly wakeMs: number };

/** Freezes an instance that nothing uses. Any byte for it, and any request, wakes it. */
export interface InstanceSleep {
  /** Milliseconds since 1970; `undefined` while awake. */
  readonly asleepSinceMs: number | undefined;
  /** Freezes the instance after as many seconds without use; 0 = never. @throws {PlacementError} `bad_option`. */
  after(seconds: number): void;
  /** Bytes pass to or from the instance. */
  touch(): void;
  /** Returns a function that removes the listener. */
  onChange(listener: (change: SleepChange) => void): () => void;
}

export interface PlacementSleep {
  /** One sentence; absent if sessions can sleep. */
  readonly unableBecause?: string;
  /** Whether the memory of sleeping sessions moves to swap. */
  readonly pagesOut: boolean;
}
