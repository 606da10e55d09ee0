import { sizeText } from "../../base/texts.ts";
import type { Metric } from "./days.ts";

const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const days = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });

export const isBytes = (metric: Metric): boolean => ["received", "sent", "storage"].includes(metric);

export function amountText(value: number, metric: Metric): string {
  return isBytes(metric) ? sizeText(value) : numbers.format(value);
}

/** With its unit: an axis has no heading. */
export function axisText(value: number, metric: Metric): string {
  return amountText(value, metric) + (metric === "minutes" ? " min" : "");
}

/** `Mar 2`, for a day in UTC. */
export const shortDay = (day: string): string => days.format(Date.parse(day));
