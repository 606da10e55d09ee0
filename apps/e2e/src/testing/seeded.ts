/** Repetitions in slow tests, `SHOAL_TEST_ROUNDS`: 1 in CI. */
export const rounds = Number(process.env.SHOAL_TEST_ROUNDS ?? 1);
const seed = Number(process.env.SHOAL_TEST_SEED ?? 29);

/** Returns numbers from 0 to 1, equal for the same seed and name (mulberry32). */
export function seeded(name: string): () => number {
  let state = Buffer.from(name).reduce((sum, byte) => Math.imul(sum, 31) + byte, seed) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
