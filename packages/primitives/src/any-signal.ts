/** Of each signal of {@link anySignal}: a weak map holds them while that signal lives. */
const sources = new WeakMap<AbortSignal, readonly AbortSignal[]>();

/**
 * `AbortSignal.any`, which aborts also if nothing else refers to a source, such as a time limit. Node 24.16 to 24.21 and
 * 26.1 to 26.8 only refer to sources weakly, and lose an abort after a garbage collection.
 *
 * @see {@link https://github.com/nodejs/node/issues/65995}
 */
export function anySignal(signals: readonly AbortSignal[]): AbortSignal {
  const signal = AbortSignal.any([...signals]);
  sources.set(signal, signals);
  return signal;
}
