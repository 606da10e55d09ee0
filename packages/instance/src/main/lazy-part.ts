export interface LazyPart<T> {
  readonly present: T | undefined;
  readonly begun: Promise<T> | undefined;
  /** Always returns the same part. A failure is final. */
  readonly load: () => Promise<T>;
  /** Calls `action` once the part is loaded; never, if {@link load} was not called. */
  ifBegun(action: (part: T) => void): void;
}

export function lazyPart<T>(make: () => Promise<T>): LazyPart<T> {
  let present: T | undefined;
  let begun: Promise<T> | undefined;
  async function keep(): Promise<T> {
    present = await make();
    return present;
  }
  return {
    get present() {
      return present;
    },
    get begun() {
      return begun;
    },
    load: () => (begun ??= keep()),
    ifBegun(action) {
      begun?.then(action, () => undefined);
    },
  };
}
