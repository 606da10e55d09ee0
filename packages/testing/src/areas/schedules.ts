import type { OperationsOf } from "@shoal/contract";
import { actionNotFound, appVersionNotFound, scheduleNotFound, tooManySchedules } from "@shoal/contract/refusals";
import { createId } from "@shoal/primitives";
import { ServiceError, type Handlers } from "@shoal/router";
import type { Schedule } from "@shoal/schemas";
import type { Access } from "../state/access.ts";
import type { ScheduleRow } from "../state/apps.ts";
import { pageOf } from "../state/listing.ts";
import type { Store } from "../state/store.ts";
import { findVersion } from "./deployments.ts";

const maxPerApp = 20;

function toSchedule({ isPaused, projectId: _, ...shown }: ScheduleRow): Schedule {
  return { ...shown, status: isPaused ? "paused" : "active", next_run_at: null };
}

/** Schedules are stored, but never due: tests invoke actions at the moment that they need. */
export function scheduleHandlers(store: Store): Handlers<OperationsOf<"schedules">, Access> {
  /** Deleting a deployment deletes the schedules of its versions. */
  const ofProject = (projectId: string): ScheduleRow[] =>
    store.schedules.filter(
      (row) =>
        row.projectId === projectId &&
        findVersion(store, projectId, { app: row.app_name ?? "", version: row.version ?? "" }) !== undefined,
    );
  const existing = (projectId: string, id: string): ScheduleRow => {
    const found = ofProject(projectId).find((row) => row.id === id);
    if (found === undefined) throw ServiceError.of(scheduleNotFound(id));
    return found;
  };
  const paused = (row: ScheduleRow, isPaused: boolean): Schedule => {
    row.isPaused = isPaused;
    return toSchedule(row);
  };
  return {
    createSchedule: ({ body: { flow, flow_run: _, payload, ...body }, context: { projectId } }) => {
      const { action_name: action = "", app_name: app = "", version } = body;
      if (flow !== undefined)
        throw new ServiceError(501, "not_implemented", "body.flow: the fake has no flows. Test with a service.");
      const target = findVersion(store, projectId, { app, version });
      if (target === undefined) throw ServiceError.of(appVersionNotFound(app, version));
      const actions = target.found.actions.map(({ name }) => name);
      if (!actions.includes(action)) throw ServiceError.of(actionNotFound({ action, app, version }, actions));
      const ofApp = ofProject(projectId).filter((row) => row.app_name === app);
      if (ofApp.length >= maxPerApp) throw ServiceError.of(tooManySchedules(app, maxPerApp));
      const row: ScheduleRow = {
        id: createId(),
        projectId,
        ...body,
        ...(payload !== undefined && payload !== "" && { payload }),
        origin: "request",
        isPaused: false,
        created_at: new Date().toISOString(),
      };
      store.schedules.push(row);
      return toSchedule(row);
    },
    listSchedules: ({ query: { app_name, flow, version, ...window }, context }) =>
      pageOf(
        ofProject(context.projectId)
          .filter(
            (row) =>
              flow === undefined &&
              (app_name === undefined || row.app_name === app_name) &&
              (version === undefined || row.version === version),
          )
          .reverse(),
        window,
        toSchedule,
      ),
    pauseSchedule: ({ params, context }) => paused(existing(context.projectId, params.id), true),
    resumeSchedule: ({ params, context }) => paused(existing(context.projectId, params.id), false),
    deleteSchedule: ({ params, context }) => {
      store.schedules.splice(store.schedules.indexOf(existing(context.projectId, params.id)), 1);
    },
  };
}
