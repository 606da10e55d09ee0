import { waitLimitMs } from "@shoal/testkit";
import { setTimeout as delay } from "node:timers/promises";

const intervalMs = 20;

/** Waits until `condition` returns neither `undefined` nor `false`. @throws {Error} after `timeoutMs`. */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  timeoutMs = waitLimitMs,
): Promise<Exclude<T, undefined | false>> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
    if (performance.now() > end) throw new Error(`It did not happen within ${timeoutMs} ms: ${what}.`);
    await delay(intervalMs);
  }
}
