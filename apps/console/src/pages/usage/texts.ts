import { sizeText } from "../../base/texts.ts";
import type { Metric } from "./days.ts";

const numbers = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const days = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });

export function amountText(value: number, metric: Metric): string {
  return ["received", "sent", "storage"].includes(metric) ? sizeText(value) : numbers.format(value);
}

/** `Mar 2`, for a day in UTC. */
export const shortDay = (day: string): string => days.format(Date.parse(day));
