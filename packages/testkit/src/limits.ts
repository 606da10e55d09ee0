/** The deadline of every wait in tests. Long, because it only ends tests that would hang. */
export const waitLimitMs = 120_000;

/** The limit of a test and of a hook. Longer than that of a wait, so that the failed wait is reported. */
export const testLimitMs = 300_000;

/** The limit of a slow test, which repeats its steps in many rounds. */
export const slowTestLimitMs = 1_800_000;
