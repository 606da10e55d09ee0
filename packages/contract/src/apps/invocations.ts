import {
  CreatedInvocation,
  CreateInvocation,
  FollowInvocation,
  Id,
  Invocation,
  InvocationBrowsers,
  InvocationEvent,
  lazyObject,
  ListInvocations,
  UpdateInvocation,
} from "@shoal/schemas";
import { defineEndpoint, empty, eventStream, json, page } from "../base/endpoint.ts";

/** Single runs of an app's action. */
const area = "Invocations";
/** JSON as text in JSON: quotes and backslashes take two bytes. */
const maxBodyBytes = 10 * 2 ** 20;
const id = lazyObject(() => ({
  /** The invocation's id. */
  id: Id,
}));

/** Waits for the end and returns the output; with `async` it returns 202 at once. Use `async` for invocations that may take more than a minute. */
export const createInvocation = defineEndpoint({
  operationId: "invocations.create",
  area,
  plane: "control",
  moves: ["write invocations", "write invocation_data"],
  method: "POST",
  path: "/invocations",
  summary: "Invoke an action of an app.",
  body: json(CreateInvocation, { limitBytes: maxBodyBytes }),
  responses: { 200: json(CreatedInvocation), 202: json(CreatedInvocation) },
  errors: [400, 401, 403, 404, 413, 429, 500, 529],
});

/** Newest first. */
export const listInvocations = defineEndpoint({
  operationId: "invocations.list",
  area,
  plane: "control",
  moves: ["read invocations"],
  method: "GET",
  path: "/invocations",
  summary: "List invocations.",
  query: ListInvocations,
  responses: { 200: page(Invocation) },
  errors: [400, 401, 500],
});

/** Includes the payload and, after its end, the output. */
export const getInvocation = defineEndpoint({
  operationId: "invocations.get",
  area,
  plane: "control",
  moves: ["read invocations"],
  method: "GET",
  path: "/invocations/{id}",
  summary: "Get an invocation.",
  params: id,
  responses: { 200: json(Invocation) },
  errors: [401, 404, 500],
});

/** Ends it with a status and an output; `failed` cancels a running invocation and ends its browser sessions. An ended invocation stays unchanged: read `status` of the answer. */
export const updateInvocation = defineEndpoint({
  operationId: "invocations.update",
  area,
  plane: "control",
  moves: ["write invocations", "write invocation_data"],
  method: "PATCH",
  path: "/invocations/{id}",
  summary: "End an invocation.",
  params: id,
  body: json(UpdateInvocation, { limitBytes: maxBodyBytes }),
  responses: { 200: json(Invocation) },
  errors: [400, 401, 403, 404, 413, 500],
});

/** States and log lines, from `since` or from the beginning. Ends with the invocation. */
export const followInvocation = defineEndpoint({
  operationId: "invocations.follow",
  area,
  plane: "control",
  moves: ["read invocations", "read invocation_data"],
  method: "GET",
  path: "/invocations/{id}/events",
  summary: "Follow an invocation.",
  params: id,
  query: FollowInvocation,
  responses: { 200: eventStream(InvocationEvent) },
  errors: [400, 401, 404, 500],
});

/** Only running sessions. */
export const listInvocationBrowsers = defineEndpoint({
  operationId: "invocations.listBrowsers",
  area,
  plane: "control",
  moves: ["read invocations"],
  method: "GET",
  path: "/invocations/{id}/browsers",
  summary: "List an invocation's browser sessions.",
  params: id,
  responses: { 200: json(InvocationBrowsers) },
  errors: [400, 401, 404, 500],
});

/** Ends all running sessions that it started. */
export const deleteInvocationBrowsers = defineEndpoint({
  operationId: "invocations.deleteBrowsers",
  area,
  plane: "control",
  moves: ["write invocations", "write sessions"],
  method: "DELETE",
  path: "/invocations/{id}/browsers",
  summary: "End an invocation's browser sessions.",
  params: id,
  responses: { 204: empty },
  errors: [400, 401, 404, 500],
});
