import type { Tables } from "@shoal/database";
import { createId, messageOf } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { CreateSchedule } from "@shoal/schemas";
import { type Kysely, sql } from "kysely";
import * as z from "zod/mini";
import { checkTimes, dueAfter } from "../cron/due-times.ts";
import { BuildError, type DescribedApp } from "../runtime/app-runtime.ts";

/** Of an app, over all its versions. */
export const maxSchedulesPerApp = 20;

type Declared = NonNullable<DescribedApp["schedules"]>[number];

/** @param minSeconds - between two due times. @throws {BuildError} for schedules that `schedules.create` would refuse. */
export function checkDeclared({ actions, name, schedules = [] }: DescribedApp, minSeconds: number): void {
  if (schedules.length > maxSchedulesPerApp)
    throw new BuildError(
      `The app ${name} declares ${String(schedules.length)} schedules; the limit is ${String(maxSchedulesPerApp)}.`,
    );
  for (const schedule of schedules) {
    const problem = problemOf({ app_name: name, ...schedule }, minSeconds);
    if (problem !== undefined)
      throw new BuildError(`The schedule of the action ${schedule.action_name} of the app ${name}: ${problem}`);
    if (actions.every((action) => action.name !== schedule.action_name))
      throw new BuildError(`A schedule of the app ${name} names an unknown action: ${schedule.action_name}.`);
  }
}

function problemOf(schedule: Declared & { readonly app_name: string }, minSeconds: number): string | undefined {
  const [issue] = z.safeParse(CreateSchedule, schedule).error?.issues ?? [];
  if (issue !== undefined) return `${issue.path.join(".")}: ${issue.message}.`;
  try {
    checkTimes(schedule, new Date(), minSeconds);
    return undefined;
  } catch (error) {
    if (!ServiceError.isInstance(error)) throw error;
    return messageOf(error).replace(/^body\./, "");
  }
}

const identityOf = ({
  action_name,
  cron,
  payload,
  time_zone,
}: Omit<Declared, "payload"> & { payload?: string | null | undefined }): string =>
  JSON.stringify([action_name, cron, time_zone, payload ?? null]);

/**
 * Replaces the schedules that the code of a label declared. Equal ones stay, with their state and due time. Under the
 * lock of the project's versions.
 * @returns an app with too many schedules; the caller then undoes the transaction.
 */
export async function replaceDeclared(
  transaction: Kysely<Tables>,
  label: { readonly project_id: string; readonly version: string },
  apps: readonly Pick<DescribedApp, "name" | "schedules">[],
): Promise<string | undefined> {
  for (const app of apps) if (!(await replaceOfApp(transaction, label, app))) return app.name;
  return undefined;
}

async function replaceOfApp(
  transaction: Kysely<Tables>,
  { project_id, version }: { readonly project_id: string; readonly version: string },
  { name: app_name, schedules = [] }: Pick<DescribedApp, "name" | "schedules">,
): Promise<boolean> {
  const present = await transaction
    .selectFrom("schedules")
    .select(["id", "version", "origin", "action_name", "cron", "time_zone", "payload"])
    .select(sql<string>`now()::timestamptz(3)`.as("now"))
    .where("project_id", "=", project_id)
    .where("app_name", "=", app_name)
    .execute();
  const replaced = new Map(
    present
      .filter((row) => row.version === version && row.origin === "code")
      .map((row) => [row.id, identityOf({ ...row, action_name: row.action_name ?? "" })]),
  );
  const added = schedules.filter((schedule) => {
    const same = [...replaced].find(([, identity]) => identity === identityOf(schedule));
    if (same !== undefined) replaced.delete(same[0]);
    return same === undefined;
  });
  if (replaced.size > 0)
    await transaction
      .deleteFrom("schedules")
      .where("id", "in", [...replaced.keys()])
      .execute();
  if (added.length === 0) return true;
  const now = new Date(present[0]?.now ?? Date.now());
  const rows = added.map(({ payload = null, ...schedule }) => ({
    ...{ id: createId(), project_id, app_name, version, ...schedule, payload, origin: "code" as const },
    next_at: dueAfter(schedule, now) ?? null,
  }));
  await transaction.insertInto("schedules").values(rows).execute();
  return present.length - replaced.size + added.length <= maxSchedulesPerApp;
}
