/** A slow test file, in the order of `orderFiles`. */
export interface SlowFile {
  readonly path: string;
  /** Seconds that it probably takes. */
  readonly seconds: number;
  /** It runs while no other file runs. */
  readonly alone: boolean;
}

/** Below this, no further file starts. */
const leastSeconds = 20;
/** With less time than this, one batch takes all of it. */
const lastBatchSeconds = 90;

/**
 * Returns the next files to run in `seconds` with `workers` files at once. Takes half of the time until little is left,
 * because the real time of these files tells how slow the machine is. Skips a file that is longer than the time.
 */
export function nextBatch(files: readonly SlowFile[], seconds: number, workers: number): SlowFile[] {
  if (seconds < leastSeconds) return [];
  const share = seconds > lastBatchSeconds ? seconds / 2 : seconds;
  const batch: SlowFile[] = [];
  let used = 0;
  for (const file of files) {
    const cost = file.alone ? file.seconds : file.seconds / workers;
    if (file.seconds > seconds || (batch.length > 0 && used + cost > share)) continue;
    batch.push(file);
    used += cost;
  }
  return batch;
}
