import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { scheduleHandlers } from "./handlers.ts";
import { ScheduleTimer } from "./schedule-timer.ts";
import type { ScheduledRuns } from "../../sessions/flows/run/scheduled-runs.ts";
import { Schedules } from "./schedules.ts";

export function schedulesFeature({ cleanup, database, log, settings }: Host, flows: ScheduledRuns) {
  const schedules = new Schedules(database, () => settings.inForce.min_schedule_seconds, flows);
  const timer = new ScheduleTimer(database, log, flows);
  cleanup.add("schedules", () => timer.close());
  return { handlers: scheduleHandlers(schedules) } satisfies Feature;
}
