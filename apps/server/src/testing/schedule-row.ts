import type { SchedulesTable } from "@shoal/database";
import type { Insertable } from "kysely";

/** A paused schedule. */
export function scheduleRow(
  values: Pick<Insertable<SchedulesTable>, "id" | "project_id"> & Partial<Insertable<SchedulesTable>>,
): Insertable<SchedulesTable> {
  return {
    app_name: "shop",
    version: "latest",
    action_name: "price",
    cron: "0 9 * * *",
    time_zone: "UTC",
    payload: null,
    origin: "request",
    is_paused: true,
    next_at: null,
    ...values,
  };
}
