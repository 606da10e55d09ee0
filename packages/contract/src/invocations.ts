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
import { defineEndpoint, empty, eventStream, json, page } from "./endpoint.ts";

const area = "Invocations";
const id = lazyObject(() => ({
  /** The invocation's id. */
  id: Id,
}));

/** Waits for the end and answers with the output; with `async` it answers 202 at once. An invocation that may take more than a minute should be asynchronous. */
export const createInvocation = defineEndpoint({
  operationId: "invocations.create",
  area,
  plane: "control",
  method: "POST",
  path: "/invocations",
  summary: "Invoke an action of an app.",
  body: json(CreateInvocation),
  responses: { 200: json(CreatedInvocation), 202: json(CreatedInvocation) },
  errors: [400, 401, 403, 404, 429, 500, 529],
});

/** Newest first. */
export const listInvocations = defineEndpoint({
  operationId: "invocations.list",
  area,
  plane: "control",
  method: "GET",
  path: "/invocations",
  summary: "List invocations.",
  query: ListInvocations,
  responses: { 200: page(Invocation) },
  errors: [400, 401, 500],
});

/** With its payload, and its output once it has ended. */
export const getInvocation = defineEndpoint({
  operationId: "invocations.get",
  area,
  plane: "control",
  method: "GET",
  path: "/invocations/{id}",
  summary: "Get an invocation.",
  params: id,
  responses: { 200: json(Invocation) },
  errors: [401, 404, 500],
});

/** Ends it with a status and an output; `failed` cancels one that runs. One that has ended stays as it is. */
export const updateInvocation = defineEndpoint({
  operationId: "invocations.update",
  area,
  plane: "control",
  method: "PATCH",
  path: "/invocations/{id}",
  summary: "End an invocation.",
  params: id,
  body: json(UpdateInvocation),
  responses: { 200: json(Invocation) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** States and log lines from `since` on; without it, from the beginning. Ends when the invocation has. */
export const followInvocation = defineEndpoint({
  operationId: "invocations.follow",
  area,
  plane: "control",
  method: "GET",
  path: "/invocations/{id}/events",
  summary: "Follow an invocation.",
  params: id,
  query: FollowInvocation,
  responses: { 200: eventStream(InvocationEvent) },
  errors: [400, 401, 404, 500],
});

/** Those that run. */
export const listInvocationBrowsers = defineEndpoint({
  operationId: "invocations.listBrowsers",
  area,
  plane: "control",
  method: "GET",
  path: "/invocations/{id}/browsers",
  summary: "List an invocation's browser sessions.",
  params: id,
  responses: { 200: json(InvocationBrowsers) },
  errors: [400, 401, 404, 500],
});

/** All that it has started and that run. */
export const deleteInvocationBrowsers = defineEndpoint({
  operationId: "invocations.deleteBrowsers",
  area,
  plane: "control",
  method: "DELETE",
  path: "/invocations/{id}/browsers",
  summary: "End an invocation's browser sessions.",
  params: id,
  responses: { 204: empty },
  errors: [400, 401, 404, 500],
});
