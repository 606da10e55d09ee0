/** A part of the program that is loaded, and made, by whoever needs it first. */
export interface LazyPart<T> {
  /** `undefined` before it was made. */
  readonly present: T | undefined;
  /** What {@link load} gives; `undefined` where nobody has needed it. */
  readonly begun: Promise<T> | undefined;
  /** Always the same one. A failure is told to all who ask. */
  readonly load: () => Promise<T>;
  /** Does something with it where it was needed, as soon as it is there. */
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
