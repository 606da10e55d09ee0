import { Group, Text } from "@mantine/core";
import type { UsageRow } from "@shoal/schemas";
import { daysOf, type Metric, metrics, type Period, valueOf } from "./days.ts";
import { amountText, shortDay } from "./texts.ts";
import styles from "./usage-chart.module.css";

interface UsageChartProps {
  readonly rows: readonly UsageRow[];
  readonly period: Period;
  readonly metric: Metric;
}

/** One bar a day. The table below the chart has the same figures for assistive technology. */
export function UsageChart({ rows, period, metric }: UsageChartProps) {
  const byDay = Map.groupBy(rows, ({ date }) => date);
  const bars = daysOf(period).map((day) => ({ day, value: valueOf(byDay.get(day) ?? [], metric) }));
  const highest = Math.max(...bars.map(({ value }) => value), 0);
  const best = bars.find(({ value }) => value === highest);
  const summary =
    highest === 0 || best === undefined
      ? `${metrics[metric].label} per day: none`
      : `${metrics[metric].label} per day: at most ${amountText(highest, metric)}, on ${shortDay(best.day)}`;
  return (
    <figure style={{ margin: 0 }}>
      <Text component="figcaption" size="sm" c="dimmed" mb="xs">
        {summary}
      </Text>
      <div className={styles.bars} role="img" aria-label={summary}>
        {bars.map(({ day, value }) => (
          <div key={day} className={styles.day} title={`${shortDay(day)}: ${amountText(value, metric)}`}>
            <div className={styles.bar} style={{ height: value === 0 ? 0 : `max(2px, ${(100 * value) / highest}%)` }} />
          </div>
        ))}
      </div>
      <Group justify="space-between" mt={4}>
        <Text size="xs" c="dimmed">
          {shortDay(period.from)}
        </Text>
        <Text size="xs" c="dimmed">
          {shortDay(period.to)}
        </Text>
      </Group>
    </figure>
  );
}
