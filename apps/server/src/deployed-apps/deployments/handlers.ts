import type * as endpoints from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import type { Deployments } from "./deployments.ts";

type DeploymentEndpoints = Pick<
  typeof endpoints,
  | "createDeployment"
  | "deleteDeployment"
  | "followDeployment"
  | "getDeployment"
  | "listApps"
  | "listDeployments"
  | "rollbackDeployment"
>;

export function deploymentHandlers(deployments: Deployments): Handlers<DeploymentEndpoints, Access> {
  return {
    createDeployment: ({ body, context }) => deployments.create(context, body),
    listDeployments: ({ query, context }) => deployments.list(context.projectId, query),
    getDeployment: ({ params, context }) => deployments.get(context.projectId, params.id),
    deleteDeployment: ({ params, context }) => deployments.delete(context.projectId, params.id),
    rollbackDeployment: ({ params, context }) => deployments.rollback(context.projectId, params.id),
    followDeployment: ({ params, query, context, lastEventId, signal }) =>
      deployments.follow(context.projectId, params.id, { since: query.since, lastEventId, signal }),
    listApps: ({ query, context }) => deployments.listApps(context.projectId, query),
  };
}
