export interface Cost {
  readonly wallMs: number;
  /** CPU of this process: user and system, all threads. */
  readonly cpuMs: number;
}

/** Medians over all rounds, and each round. */
export interface Costs extends Cost {
  readonly rounds: readonly Cost[];
}

/** Runs functions alternately, so that a disturbance of the machine affects all of them. */
export async function interleaved<Name extends string>(
  rounds: number,
  works: Readonly<Record<Name, () => Promise<unknown>>>,
): Promise<Record<Name, Costs>> {
  const names = Object.keys(works) as Name[];
  const costs = new Map<Name, Cost[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    // Each function also pays for the previous one's garbage, so every second round runs in the opposite order.
    for (const name of round % 2 === 0 ? names : names.toReversed()) costs.get(name)?.push(await costOf(works[name]));
  }
  return Object.fromEntries([...costs].map(([name, all]) => [name, summaryOf(all)])) as Record<Name, Costs>;
}

/** Median of the rounds' ratios: steadier on a loaded machine than the ratio of the medians. */
export function pairedRatio(ours: Costs, peer: Costs, of: keyof Cost): number {
  return median(ours.rounds.map((cost, round) => cost[of] / (peer.rounds[round]?.[of] ?? Number.NaN)));
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  await work();
  const wallMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs, cpuMs: (user + system) / 1000 };
}

export function summaryOf(rounds: readonly Cost[]): Costs {
  return { wallMs: median(rounds.map((cost) => cost.wallMs)), cpuMs: median(rounds.map((cost) => cost.cpuMs)), rounds };
}
