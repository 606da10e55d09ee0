import type { UsageRow } from "@shoal/schemas";

const dayMs = 24 * 60 * 60 * 1000;

/** A UTC day, ISO 8601. */
export function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

export interface Period {
  readonly from: string;
  readonly to: string;
}

/** The last days up to today, in UTC. */
export function lastDays(count: number, nowMs: number): Period {
  return { from: dayText(nowMs - (count - 1) * dayMs), to: dayText(nowMs) };
}

/** Every day of a period, first to last. */
export function daysOf({ from, to }: Period): readonly string[] {
  const days: string[] = [];
  for (let ms = Date.parse(from); ms <= Date.parse(to) && days.length < 366; ms += dayMs) days.push(dayText(ms));
  return days;
}

export const metrics = {
  minutes: { label: "Session minutes", of: (row: UsageRow) => row.session_minutes, together: "sum" },
  sessions: { label: "Sessions", of: (row: UsageRow) => row.sessions_started, together: "sum" },
  peak: { label: "Peak of sessions", of: (row: UsageRow) => row.peak_concurrent_sessions, together: "max" },
  received: { label: "Bytes received", of: (row: UsageRow) => row.bytes_received, together: "sum" },
  sent: { label: "Bytes sent", of: (row: UsageRow) => row.bytes_sent, together: "sum" },
  storage: { label: "Storage", of: (row: UsageRow) => row.storage_bytes ?? 0, together: "sum" },
} as const;
export type Metric = keyof typeof metrics;

export const isMetric = (value: string): value is Metric => value in metrics;

/** One value for several rows of one day. */
export function valueOf(rows: readonly UsageRow[], metric: Metric): number {
  const { of, together } = metrics[metric];
  return rows.map(of).reduce((all, one) => (together === "sum" ? all + one : Math.max(all, one)), 0);
}

/** One value for a period: storage and peaks are the highest day, others are sums. */
export function totalOf(rows: readonly UsageRow[], metric: Metric): number {
  const days = [...Map.groupBy(rows, ({ date }) => date).values()].map((day) => valueOf(day, metric));
  return metric === "peak" || metric === "storage" ? Math.max(0, ...days) : days.reduce((all, one) => all + one, 0);
}
