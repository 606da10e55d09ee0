import {
  AuthConnection,
  CheckConnection,
  ConnectionExistsError,
  CreateAuthConnection,
  ExchangedHandoff,
  ExchangeHandoff,
  Id,
  lazyObject,
  ListAuthConnections,
  ListTimeline,
  ManagedAuthEvent,
  StartedLogin,
  StartLogin,
  SubmitLogin,
  SubmittedLogin,
  TimelineEvent,
  UpdateAuthConnection,
} from "@shoal/schemas";
import { defineEndpoint, empty, eventStream, json, optionalJson, page } from "../base/endpoint.ts";

/** Logins that the service keeps alive: connections of a profile to a site, and the flow of a login. */
const area = "Managed Auth";
const id = lazyObject(() => ({
  /** The connection's id. */
  id: Id,
}));

/** Creates the profile if it does not exist. 409 names the existing connection of the profile to the site. */
export const createAuthConnection = defineEndpoint({
  operationId: "auth.connections.create",
  area,
  plane: "control",
  moves: ["write connections"],
  method: "POST",
  path: "/auth/connections",
  summary: "Connect a profile to a site.",
  body: json(CreateAuthConnection),
  responses: { 201: json(AuthConnection) },
  errors: [400, 401, 403, 404, 409, 500, 501],
  errorBodies: { 409: ConnectionExistsError },
});

/** Newest first. */
export const listAuthConnections = defineEndpoint({
  operationId: "auth.connections.list",
  area,
  plane: "control",
  moves: ["read connections"],
  method: "GET",
  path: "/auth/connections",
  summary: "List connections.",
  query: ListAuthConnections,
  responses: { 200: page(AuthConnection) },
  errors: [400, 401, 500],
});

/** During a login, includes its current step and question. */
export const getAuthConnection = defineEndpoint({
  operationId: "auth.connections.get",
  area,
  plane: "control",
  moves: ["read connections"],
  method: "GET",
  path: "/auth/connections/{id}",
  summary: "Get a connection.",
  params: id,
  responses: { 200: json(AuthConnection) },
  errors: [401, 404, 500],
  handoff: "accepts",
});

/** Absent fields stay unchanged. */
export const updateAuthConnection = defineEndpoint({
  operationId: "auth.connections.update",
  area,
  plane: "control",
  moves: ["write connections"],
  method: "PATCH",
  path: "/auth/connections/{id}",
  summary: "Change a connection.",
  params: id,
  body: json(UpdateAuthConnection),
  responses: { 200: json(AuthConnection) },
  errors: [400, 401, 403, 404, 500, 501],
});

/** Cancels a running login. The profile stays. */
export const deleteAuthConnection = defineEndpoint({
  operationId: "auth.connections.delete",
  area,
  plane: "control",
  moves: ["write connections"],
  method: "DELETE",
  path: "/auth/connections/{id}",
  summary: "Delete a connection.",
  params: id,
  responses: { 204: empty },
  errors: [401, 403, 404, 500],
});

/** Returns at once. Send the person to `hosted_url`, or follow the events and submit the requested values. 409 while another login runs. */
export const startLogin = defineEndpoint({
  operationId: "auth.connections.login",
  area,
  plane: "control",
  moves: ["write connections", "read access_links"],
  method: "POST",
  path: "/auth/connections/{id}/login",
  summary: "Start a login.",
  params: id,
  body: optionalJson(StartLogin),
  responses: { 200: json(StartedLogin) },
  errors: [400, 401, 403, 404, 409, 500, 501],
});

/** The profile stays as it was. Without a running login, nothing changes. */
export const cancelLogin = defineEndpoint({
  operationId: "auth.connections.cancel",
  area,
  plane: "control",
  moves: ["write connections"],
  method: "POST",
  idempotency: { repeats: "A repeated cancellation changes nothing." },
  path: "/auth/connections/{id}/cancel",
  summary: "Cancel a login.",
  params: id,
  responses: { 204: empty },
  errors: [401, 403, 404, 500],
  handoff: "accepts",
});

/** Returns at once. Events report the result. 422 if the login does not wait for these values. */
export const submitLogin = defineEndpoint({
  operationId: "auth.connections.submit",
  area,
  plane: "control",
  moves: ["write connections", "write entered_values"],
  method: "POST",
  path: "/auth/connections/{id}/submit",
  summary: "Submit values to a login.",
  params: id,
  body: json(SubmitLogin),
  responses: { 202: json(SubmittedLogin) },
  errors: [400, 401, 404, 422, 500],
  handoff: "accepts",
});

/** First the current state, then each change. Ends with the login. */
export const followLogin = defineEndpoint({
  operationId: "auth.connections.follow",
  area,
  plane: "control",
  moves: ["read connections"],
  method: "GET",
  path: "/auth/connections/{id}/events",
  summary: "Follow a login.",
  params: id,
  responses: { 200: eventStream(ManagedAuthEvent) },
  errors: [401, 404, 500],
  handoff: "accepts",
});

/** Newest first. */
export const listTimeline = defineEndpoint({
  operationId: "auth.connections.timeline",
  area,
  plane: "control",
  moves: ["read connections"],
  method: "GET",
  path: "/auth/connections/{id}/timeline",
  summary: "List the logins and checks of a connection.",
  params: id,
  query: ListTimeline,
  responses: { 200: page(TimelineEvent) },
  errors: [400, 401, 404, 500],
});

/** Opens the page where the last login ended. Scheduled checks continue. The timeline shows the result; a second check at the same time joins the first. 409 during a login. */
export const checkConnection = defineEndpoint({
  operationId: "auth.connections.check",
  area,
  plane: "control",
  moves: ["write connections"],
  method: "POST",
  path: "/auth/connections/{id}/check",
  summary: "Check whether a profile is still signed in.",
  params: id,
  body: optionalJson(CheckConnection),
  responses: { 202: json(TimelineEvent) },
  errors: [400, 401, 403, 404, 409, 500],
});

/** For the page that a person signs in on, which has the code and no API key. 410 for a used or expired code. */
export const exchangeHandoff = defineEndpoint({
  operationId: "auth.connections.exchange",
  area,
  plane: "control",
  method: "POST",
  idempotency: { repeats: "The caller has no key to tell requests apart." },
  path: "/auth/connections/{id}/exchange",
  summary: "Exchange a handoff code for a token.",
  params: id,
  body: json(ExchangeHandoff),
  responses: { 200: json(ExchangedHandoff) },
  errors: [400, 404, 410, 500],
  auth: "none",
  handoff: "issues",
});
