import { setTimeout as delay } from "node:timers/promises";
import { percentile } from "../measuring/figures.ts";

/** How long changes take to reach their listeners, in milliseconds, and what they cost. */
export interface ChangeTimes {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the broker, per change, with all its listeners. */
  readonly cpuMs: number;
}

export interface ChangeBroker {
  readonly listeners: number;
  /** Resolves when the broker has accepted the change of a row. */
  send(id: string): Promise<unknown>;
  /** CPU time of the broker so far. */
  cpuMs(): number;
  onArrival: (id: string) => void;
}

const senders = 10;
const tickMs = 5;
const arrivalMs = 10_000;

/** @param load.perSecond - 0 = as many as the senders can. @throws {Error} when a change did not arrive. */
export async function measureChanges(
  broker: ChangeBroker,
  ids: readonly string[],
  load: { readonly perSecond: number; readonly seconds: number },
): Promise<ChangeTimes> {
  const sentMs = new Map<string, number>();
  const delays: number[] = [];
  broker.onArrival = (id) => {
    delays.push(performance.now() - (sentMs.get(id) ?? Number.NaN));
  };
  let count = 0;
  const send = (): Promise<unknown> => {
    const id = ids[count++ % ids.length] ?? "";
    sentMs.set(id, performance.now());
    return broker.send(id);
  };
  const cpuBefore = broker.cpuMs();
  const began = performance.now();
  const end = began + load.seconds * 1000;
  const isDue = (): boolean => load.perSecond === 0 || count < ((performance.now() - began) / 1000) * load.perSecond;
  // A slow broker lowers the rate.
  await Promise.all(
    Array.from({ length: senders }, async () => {
      while (performance.now() < end) await (isDue() ? send() : delay(tickMs));
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  const last = performance.now() + arrivalMs;
  while (delays.length < count * broker.listeners && performance.now() < last) await delay(tickMs);
  if (delays.length !== count * broker.listeners)
    throw new Error(`${String(delays.length)} of ${String(count * broker.listeners)} changes arrived.`);
  return {
    perSecond: count / seconds,
    p50Ms: percentile(delays, 0.5),
    p99Ms: percentile(delays, 0.99),
    cpuMs: (broker.cpuMs() - cpuBefore) / count,
  };
}
