import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { scheduleHandlers } from "./handlers.ts";
import { ScheduleTimer } from "./schedule-timer.ts";
import { Schedules } from "./schedules.ts";

export function schedulesFeature({ cleanup, database, log, settings }: Host) {
  const schedules = new Schedules(database, () => settings.inForce.min_schedule_seconds);
  const timer = new ScheduleTimer(database, log);
  cleanup.add("schedules of apps", () => timer.close());
  return { handlers: scheduleHandlers(schedules) } satisfies Feature;
}
