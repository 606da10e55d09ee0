import { Text } from "@mantine/core";
import { Cron } from "croner";
import { useMemo } from "react";

const shownTimes = 3;

interface NextTimesProps {
  readonly cron: string;
  readonly timeZone: string;
}

/** The next times of a schedule in its time zone, as it is typed. The service checks it when it is created. */
export function NextTimes({ cron, timeZone }: NextTimesProps) {
  const text = useMemo(() => {
    try {
      const times = new Cron(cron, { timezone: timeZone, mode: "5-or-6-parts", paused: true }).nextRuns(shownTimes);
      const format = new Intl.DateTimeFormat(undefined, {
        timeZone,
        weekday: "short",
        day: "numeric",
        month: "short",
        year: "numeric",
        hour: "2-digit",
        minute: "2-digit",
      });
      return times.length === 0
        ? "This schedule never runs."
        : `Next: ${times.map((time) => format.format(time)).join(" · ")}`;
    } catch {
      return "Invalid times or time zone.";
    }
  }, [cron, timeZone]);
  return (
    <Text size="sm" c="dimmed" role="status">
      {text}
    </Text>
  );
}
