import type { AppAction, Schedule } from "@shoal/schemas";
import { type App, registeredApps } from "./app.ts";
import { jsonSchemaOf } from "./value-schema.ts";

/** An app and its actions. */
export interface AppDescription {
  readonly name: string;
  readonly actions: readonly AppAction[];
  /** Absent without one. */
  readonly schedules?: readonly DeclaredSchedule[];
}

/** A schedule in the code of an app. */
export interface DeclaredSchedule extends Pick<Schedule, "cron" | "time_zone" | "payload"> {
  readonly action_name: string;
}

/** Describes all apps of this program for a deployer, in the order of their creation. Schemas are JSON Schema draft-07. */
export async function describeApps(): Promise<{ readonly apps: readonly AppDescription[] }> {
  const apps = await Promise.all(
    [...registeredApps().values()].map(async ({ actions, name }) => ({
      name,
      actions: await Promise.all(
        [...actions].map(async ([action, { output, payload }]) => ({
          name: action,
          input_schema: await jsonSchemaOf(payload, "input"),
          output_schema: await jsonSchemaOf(output, "output"),
        })),
      ),
      ...schedulesOf(actions),
    })),
  );
  return { apps };
}

function schedulesOf(actions: App["actions"]): Pick<AppDescription, "schedules"> {
  const schedules = [...actions].flatMap(([action_name, { schedule }]) =>
    schedule === undefined
      ? []
      : {
          action_name,
          cron: schedule.cron,
          time_zone: schedule.time_zone ?? "UTC",
          ...(schedule.payload !== undefined && { payload: JSON.stringify(schedule.payload) }),
        },
  );
  return schedules.length === 0 ? {} : { schedules };
}
