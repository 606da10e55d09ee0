import { Text, VisuallyHidden } from "@mantine/core";
import type { UsageRow } from "@shoal/schemas";
import { daysOf, type Metric, metrics, type Period, valueOf } from "./days.ts";
import { labeledDays, ticksOf } from "./scale.ts";
import { amountText, axisText, shortDay } from "./texts.ts";
import styles from "./usage-chart.module.css";

interface UsageChartProps {
  readonly rows: readonly UsageRow[];
  readonly period: Period;
  readonly metric: Metric;
}

interface Bar {
  readonly day: string;
  readonly value: number;
}

/** More bars are too narrow for a value above each of them. */
const mostValues = 7;

/** One bar a day, and the same figures as a table for assistive technology. */
export function UsageChart({ rows, period, metric }: UsageChartProps) {
  const byDay = Map.groupBy(rows, ({ date }) => date);
  const bars = daysOf(period).map((day) => ({ day, value: valueOf(byDay.get(day) ?? [], metric) }));
  const summary = summaryOf(bars, metric);
  return (
    <figure style={{ margin: 0 }}>
      <Text component="figcaption" size="sm" c="dimmed" mb="md">
        {summary}
      </Text>
      <div className={styles.chart} role="img" aria-label={summary}>
        <Bars bars={bars} metric={metric} />
      </div>
      <VisuallyHidden>
        <FigureTable bars={bars} metric={metric} />
      </VisuallyHidden>
    </figure>
  );
}

function summaryOf(bars: readonly Bar[], metric: Metric): string {
  const { label } = metrics[metric];
  const [first, ...others] = bars;
  const best = first && others.reduce((one, other) => (other.value > one.value ? other : one), first);
  return best === undefined || best.value === 0
    ? `${label} per day: none`
    : `${label} per day: at most ${amountText(best.value, metric)}, on ${shortDay(best.day)}`;
}

function Bars({ bars, metric }: { readonly bars: readonly Bar[]; readonly metric: Metric }) {
  const ticks = ticksOf(Math.max(0, ...bars.map(({ value }) => value)), metric);
  const top = ticks.at(-1) ?? 1;
  const labeled = labeledDays(bars.map(({ day }) => day));
  return (
    <>
      <div className={styles.axis}>
        {ticks.map((value) => (
          <span key={value}>{axisText(value, metric)}</span>
        ))}
      </div>
      <div className={styles.bars}>
        <div className={styles.lines}>
          {ticks.map((value) => (
            <span key={value} />
          ))}
        </div>
        {bars.map(({ day, value }) => (
          <div key={day} className={styles.day} title={`${shortDay(day)}: ${amountText(value, metric)}`}>
            <div className={styles.bar} style={{ height: value === 0 ? 0 : `max(2px, ${(100 * value) / top}%)` }}>
              {bars.length <= mostValues && <span className={styles.value}>{amountText(value, metric)}</span>}
            </div>
            {labeled.has(day) && <span className={styles.label}>{shortDay(day)}</span>}
          </div>
        ))}
      </div>
    </>
  );
}

function FigureTable({ bars, metric }: { readonly bars: readonly Bar[]; readonly metric: Metric }) {
  const { label } = metrics[metric];
  return (
    <table>
      <caption>{label} per day</caption>
      <thead>
        <tr>
          <th scope="col">Day</th>
          <th scope="col">{label}</th>
        </tr>
      </thead>
      <tbody>
        {bars.map(({ day, value }) => (
          <tr key={day}>
            <th scope="row">{shortDay(day)}</th>
            <td>{amountText(value, metric)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
