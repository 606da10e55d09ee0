import type { Metric } from "./days.ts";
import { isBytes } from "./texts.ts";

const mostSteps = 5;
const smallestStep = 0.1;

/** Round values of an axis from 0 to the highest value or above it, in equal steps. */
export function ticksOf(highest: number, metric: Metric): readonly number[] {
  const unit = isBytes(metric) ? 1024 ** Math.floor(Math.log2(Math.max(1, highest)) / 10) : 1;
  const wanted = Math.max(highest / unit / mostSteps, metric === "minutes" || unit > 1 ? smallestStep : 1);
  const power = 10 ** Math.floor(Math.log10(wanted));
  const factors = power < 10 ? [1, 2, 5] : [1, 2, 2.5, 5];
  const step = (factors.find((factor) => factor * power >= wanted) ?? 10) * power;
  const steps = Math.max(1, Math.ceil(highest / unit / step));
  return Array.from({ length: steps + 1 }, (_, index) => index * step * unit);
}

const mostLabels = 4;

/** The days with a label below a chart, evenly spaced, with the last one. */
export function labeledDays(days: readonly string[]): ReadonlySet<string> {
  const step = Math.ceil(days.length / mostLabels);
  return new Set(days.filter((_, index) => (days.length - 1 - index) % step === 0));
}
