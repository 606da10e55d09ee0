import {
  CreateDeployment,
  Deployment,
  DeploymentEvent,
  FollowDeployment,
  Id,
  lazyObject,
  ListDeployments,
} from "@shoal/schemas";
import { defineEndpoint, empty, eventStream, json, multipart, page } from "../base/endpoint.ts";

/** Versions of apps, from upload to running. */
const area = "Deployments";
const id = lazyObject(() => ({
  /** The deployment's id. */
  id: Id,
}));

/** Takes an archive or the URL of a repository and returns at once. `deployments.follow` reports the progress. */
export const createDeployment = defineEndpoint({
  operationId: "deployments.create",
  area,
  plane: "control",
  moves: ["write apps", "write code"],
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
  moves: ["read apps"],
  method: "GET",
  path: "/deployments",
  summary: "List deployments.",
  query: ListDeployments,
  responses: { 200: page(Deployment) },
  errors: [400, 401, 500],
});

/** Shows the source and the state of the deployment. */
export const getDeployment = defineEndpoint({
  operationId: "deployments.get",
  area,
  plane: "control",
  moves: ["read apps"],
  method: "GET",
  path: "/deployments/{id}",
  summary: "Get a deployment.",
  params: id,
  responses: { 200: json(Deployment) },
  errors: [401, 404, 500],
});

/** Stops it first if it runs. Its app versions can no longer be invoked. */
export const deleteDeployment = defineEndpoint({
  operationId: "deployments.delete",
  area,
  plane: "control",
  moves: ["write apps"],
  method: "DELETE",
  path: "/deployments/{id}",
  summary: "Delete a deployment.",
  params: id,
  responses: { 204: empty },
  errors: [401, 403, 404, 500],
});

/** Runs the stored build of an earlier deployment again, without a new build. The service keeps the builds of the last 20 replaced deployments of a project. Running invocations of the replaced deployment finish. */
export const rollbackDeployment = defineEndpoint({
  operationId: "deployments.rollback",
  area,
  plane: "control",
  moves: ["write apps", "write code"],
  method: "POST",
  path: "/deployments/{id}/rollback",
  summary: "Return to an earlier deployment.",
  params: id,
  responses: { 200: json(Deployment) },
  errors: [401, 403, 404, 409, 500],
});

/** States, log lines and new app versions, from `since` or from the beginning. Ends when the deployment fails or is stopped. */
export const followDeployment = defineEndpoint({
  operationId: "deployments.follow",
  area,
  plane: "control",
  moves: ["read apps", "read app_logs"],
  method: "GET",
  path: "/deployments/{id}/events",
  summary: "Follow a deployment.",
  params: id,
  query: FollowDeployment,
  responses: { 200: eventStream(DeploymentEvent) },
  errors: [400, 401, 404, 500],
});
