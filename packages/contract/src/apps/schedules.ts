import { CreateSchedule, Id, lazyObject, ListSchedules, Schedule } from "@shoal/schemas";
import { defineEndpoint, empty, json, page } from "../base/endpoint.ts";

/** Regular invocations of an app's action, or runs of a flow. */
const area = "Schedules";
const id = lazyObject(() => ({
  /** The schedule's id. */
  id: Id,
}));

/** Each due time starts one invocation, on any server, of the deployment that has the version's label then. At a limit of concurrent invocations it waits. Deleting the deployment deletes the schedule. With `flow`, each due time starts one run with the rights that the caller has then, unless the previous run still runs; no run starts twice. Deleting the flow deletes the schedule. */
export const createSchedule = defineEndpoint({
  operationId: "schedules.create",
  area,
  plane: "control",
  moves: ["write schedules", "write invocation_data"],
  method: "POST",
  path: "/schedules",
  summary: "Invoke an action or run a flow regularly.",
  body: json(CreateSchedule),
  responses: { 201: json(Schedule) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** Newest first. */
export const listSchedules = defineEndpoint({
  operationId: "schedules.list",
  area,
  plane: "control",
  moves: ["read schedules"],
  method: "GET",
  path: "/schedules",
  summary: "List schedules.",
  query: ListSchedules,
  responses: { 200: page(Schedule) },
  errors: [400, 401, 500],
});

/** Its due times pass without an invocation until `schedules.resume`. Running invocations continue. */
export const pauseSchedule = defineEndpoint({
  operationId: "schedules.pause",
  area,
  plane: "control",
  moves: ["write schedules"],
  method: "POST",
  path: "/schedules/{id}/pause",
  summary: "Pause a schedule.",
  params: id,
  responses: { 200: json(Schedule) },
  errors: [401, 403, 404, 500],
});

/** Continues with the next due time; times during the pause stay without an invocation. */
export const resumeSchedule = defineEndpoint({
  operationId: "schedules.resume",
  area,
  plane: "control",
  moves: ["write schedules"],
  method: "POST",
  path: "/schedules/{id}/resume",
  summary: "Resume a schedule.",
  params: id,
  responses: { 200: json(Schedule) },
  errors: [401, 403, 404, 500],
});

/** Running invocations continue. */
export const deleteSchedule = defineEndpoint({
  operationId: "schedules.delete",
  area,
  plane: "control",
  moves: ["write schedules"],
  method: "DELETE",
  path: "/schedules/{id}",
  summary: "Delete a schedule.",
  params: id,
  responses: { 204: empty },
  errors: [401, 403, 404, 500],
});
