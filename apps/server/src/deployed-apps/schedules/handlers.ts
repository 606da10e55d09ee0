import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import type { Schedules } from "./schedules.ts";

export function scheduleHandlers(schedules: Schedules): Handlers<OperationsOf<"schedules">, Access> {
  return {
    createSchedule: ({ body, context, signal }) => schedules.create(context, body, signal),
    listSchedules: ({ query, context }) => schedules.list(context.projectId, query),
    pauseSchedule: ({ params, context }) => schedules.pause(context.projectId, params.id),
    resumeSchedule: ({ params, context }) => schedules.resume(context.projectId, params.id),
    deleteSchedule: ({ params, context }) => schedules.delete(context.projectId, params.id),
  };
}
