import { CreateDeployment, Deployment, DeploymentEvent, FollowDeployment, Id, lazyObject, ListDeployments } from "@shoal/schemas";
import { defineEndpoint, empty, eventStream, json, multipart, page } from "./endpoint.ts";

const area = "Deployments";
const id = lazyObject(() => ({
  /** The deployment's id. */
  id: Id,
}));

/** Takes an archive or the address of a repository and answers at once; `deployments.follow` tells what becomes of it. */
export const createDeployment = defineEndpoint({
  operationId: "deployments.create",
  area,
  plane: "control",
  method: "POST",
  path: "/deployments",
  summary: "Deploy an app.",
  body: multipart(CreateDeployment),
  responses: { 201: json(Deployment) },
  errors: [400, 401, 403, 404, 409, 413, 500],
});

/** Newest first. */
export const listDeployments = defineEndpoint({
  operationId: "deployments.list",
  area,
  plane: "control",
  method: "GET",
  path: "/deployments",
  summary: "List deployments.",
  query: ListDeployments,
  responses: { 200: page(Deployment) },
  errors: [400, 401, 500],
});

/** Says where the sources came from, and what state they are in. */
export const getDeployment = defineEndpoint({
  operationId: "deployments.get",
  area,
  plane: "control",
  method: "GET",
  path: "/deployments/{id}",
  summary: "Get a deployment.",
  params: id,
  responses: { 200: json(Deployment) },
  errors: [401, 404, 500],
});

/** Stops it first if it runs. The app versions that it made can no longer be invoked. */
export const deleteDeployment = defineEndpoint({
  operationId: "deployments.delete",
  area,
  plane: "control",
  method: "DELETE",
  path: "/deployments/{id}",
  summary: "Delete a deployment.",
  params: id,
  responses: { 204: empty },
  errors: [401, 403, 404, 500],
});

/** States, log lines and the app versions that it makes, from `since` on; without it, from the beginning. Ends when the deployment has failed or was stopped. */
export const followDeployment = defineEndpoint({
  operationId: "deployments.follow",
  area,
  plane: "control",
  method: "GET",
  path: "/deployments/{id}/events",
  summary: "Follow a deployment.",
  params: id,
  query: FollowDeployment,
  responses: { 200: eventStream(DeploymentEvent) },
  errors: [400, 401, 404, 500],
});
