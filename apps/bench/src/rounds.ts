/** What one run of a piece of work took. */
export interface Cost {
  readonly wallMs: number;
  /** Of this process: user and system, all threads. */
  readonly cpuMs: number;
}

/** Runs pieces of work in turn, so that what disturbs the machine disturbs them all, and gives the median of each. */
export async function interleaved<Name extends string>(
  rounds: number,
  works: Readonly<Record<Name, () => Promise<unknown>>>,
): Promise<Record<Name, Cost>> {
  const names = Object.keys(works) as Name[];
  const costs = new Map<Name, Cost[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    // The one after another also inherits its garbage: every second round goes the other way.
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const cpu = process.cpuUsage();
      const begun = performance.now();
      await works[name]();
      const wallMs = performance.now() - begun;
      const { user, system } = process.cpuUsage(cpu);
      costs.get(name)?.push({ wallMs, cpuMs: (user + system) / 1000 });
    }
  }
  const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
  return Object.fromEntries(
    names.map((name) => [
      name,
      { wallMs: median(costs.get(name)?.map((cost) => cost.wallMs) ?? []), cpuMs: median(costs.get(name)?.map((cost) => cost.cpuMs) ?? []) },
    ]),
  ) as Record<Name, Cost>;
}
