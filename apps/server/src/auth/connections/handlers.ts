import type * as endpoints from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import { toConnection } from "./connection-row.ts";
import type { Connections } from "./connections.ts";

type ConnectionEndpoints = Pick<
  typeof endpoints,
  | "createAuthConnection"
  | "listAuthConnections"
  | "getAuthConnection"
  | "updateAuthConnection"
  | "deleteAuthConnection"
  | "listTimeline"
>;

export function connectionHandlers(connections: Connections): Handlers<ConnectionEndpoints, Access> {
  return {
    createAuthConnection: ({ body, context }) => connections.create(context.projectId, body),
    async listAuthConnections({ query, context }) {
      const page = await connections.list(context.projectId, query);
      return { ...page, items: page.items.map(toConnection) };
    },
    getAuthConnection: async ({ params, context }) =>
      toConnection(await connections.existing(context.projectId, params.id)),
    updateAuthConnection: async ({ params, body, context }) =>
      toConnection(await connections.update(context.projectId, params.id, body)),
    deleteAuthConnection: ({ params, context }) => connections.delete(context.projectId, params.id),
    listTimeline: ({ params, query, context }) => connections.timeline(context.projectId, params.id, query),
  };
}
