export interface WarmSizeLimits {
  /** Kept without any demand, if the memory allows it. */
  readonly floor: number;
  readonly max: number;
}

export interface WarmSizeFacts {
  /** Sessions created during the latest refill time: the recent rate times the refill time. */
  readonly created: number;
  readonly ready: number;
  /** Of the machine or the container. */
  readonly availableBytes: number;
  readonly machineBytes: number;
}

export interface WarmSizeState {
  readonly target: number;
  /** Checks in a row that needed fewer. */
  readonly quietChecks: number;
}

/** Of a waiting instance with its browser: 85 MB measured for one of eight, more for the first. */
export const warmInstanceBytes = 128 * 2 ** 20;
/** Kept free for running sessions, as a share of the machine's memory and at least in bytes. */
const reservedShare = 0.1;
const leastReservedBytes = 512 * 2 ** 20;
/** Bursts that come at least once a minute find their browsers ready. */
export const quietChecksToShrink = 60;

/** Grows at once, and shrinks by one a check after a quiet minute, so that a steady rate keeps a steady size. */
export function nextWarmSize(
  { target, quietChecks }: WarmSizeState,
  facts: WarmSizeFacts,
  limits: WarmSizeLimits,
): WarmSizeState {
  const most = Math.min(limits.max, warmRoom(facts));
  const needed = Math.max(limits.floor, facts.created);
  if (needed >= target) return { target: Math.min(needed, most), quietChecks: 0 };
  const isQuiet = quietChecks + 1 > quietChecksToShrink;
  return {
    target: Math.min(isQuiet ? target - 1 : target, most),
    quietChecks: isQuiet ? quietChecks : quietChecks + 1,
  };
}

/** Instances, including those ready now, for which the memory suffices. */
export function warmRoom({ availableBytes, machineBytes, ready }: Omit<WarmSizeFacts, "created">): number {
  const spareBytes = availableBytes - Math.max(leastReservedBytes, machineBytes * reservedShare);
  return Math.max(0, ready + Math.floor(spareBytes / warmInstanceBytes));
}

export interface RefillFacts {
  /** Calls that wait for an instance; their starts come first. */
  readonly waitingCalls: number;
  readonly ready: number;
  /** Share of the machine's CPU time that was idle recently, 0 to 1. */
  readonly idleShare: number;
  readonly cores: number;
  /** Milliseconds since a start ended. */
  readonly sinceStartMs: number;
}

/** On a busier machine, refills wait. */
const busyIdleShare = 0.1;
/** A start takes about 0.3 s of CPU, so refills of a busy machine take less than a tenth of a core. */
const busyPauseMs = 4_000;

/** Returns how many refills may run at once. On a busy machine: one, and only if none is ready or after a pause. */
export function refillsAllowed({ cores, idleShare, ready, sinceStartMs, waitingCalls }: RefillFacts): number {
  if (waitingCalls > 0) return 0;
  if (idleShare < busyIdleShare) return ready === 0 || sinceStartMs >= busyPauseMs ? 1 : 0;
  return Math.max(1, Math.floor(cores * idleShare));
}
