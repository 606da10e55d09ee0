import type * as endpoints from "@shoal/contract";
import type { LoginAddresses } from "@shoal/contract/logins";
import type { Handlers } from "@shoal/router";
import type { AuthConnection } from "@shoal/schemas";
import type { Access } from "../../http/auth/access.ts";
import { mayMoveSecrets } from "../../http/auth/rights.ts";
import { type ConnectionRow, type FlowRow, type ListedConnection, toConnection } from "./connection-row.ts";
import type { Connections, ConnectionWriter } from "./connections.ts";
import { flowFields } from "./flow-view.ts";

type ConnectionEndpoints = Pick<
  typeof endpoints,
  | "createAuthConnection"
  | "listAuthConnections"
  | "getAuthConnection"
  | "updateAuthConnection"
  | "deleteAuthConnection"
  | "listTimeline"
>;

export function writerOf(access: Access): ConnectionWriter {
  return { projectId: access.projectId, mayMoveSecrets: mayMoveSecrets(access) };
}

/** Makes the addresses of a login for a caller. */
export interface LoginPages {
  of(flow: FlowRow, access: Access): LoginAddresses;
  /** For the answer that starts a login. */
  handedOut(flow: FlowRow, access: Access): { readonly hosted_url: string; readonly handoff_code: string };
}

export function connectionHandlers(connections: Connections, pages: LoginPages): Handlers<ConnectionEndpoints, Access> {
  const shown = (row: ListedConnection, flow: FlowRow | undefined, access: Access): AuthConnection => ({
    ...toConnection(row),
    ...(flow && flowFields(flow, pages.of(flow, access))),
  });
  const one = async (row: ConnectionRow, access: Access) => {
    const flow = row.flow_id === null ? undefined : await connections.store.flow(row.flow_id);
    // The login may have succeeded between the two reads.
    const isOlder = flow?.status === "SUCCESS" && Date.parse(row.signed_in_at ?? "") !== Date.parse(flow.updated_at);
    return shown(isOlder ? await connections.existing(row.project_id, row.id) : row, flow, access);
  };
  return {
    createAuthConnection: ({ body, context }) => connections.create(writerOf(context), body),
    async listAuthConnections({ query, context }) {
      const page = await connections.list(context.projectId, query);
      const flows = await connections.store.flows(page.items.flatMap(({ flow_id }) => flow_id ?? []));
      const flowOf = new Map(flows.map((flow) => [flow.id, flow]));
      return { ...page, items: page.items.map((row) => shown(row, flowOf.get(row.flow_id ?? ""), context)) };
    },
    getAuthConnection: async ({ params, context }) =>
      one(await connections.existing(context.projectId, params.id), context),
    updateAuthConnection: async ({ params, body, context }) =>
      one(await connections.update(writerOf(context), params.id, body), context),
    deleteAuthConnection: ({ params, context }) => connections.delete(context.projectId, params.id),
    listTimeline: ({ params, query, context }) => connections.timeline(context.projectId, params.id, query),
  };
}
