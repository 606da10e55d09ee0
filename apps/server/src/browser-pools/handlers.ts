import type * as endpoints from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../auth/access.ts";
import { type SessionSigner, toBrowser } from "../browsers/handlers.ts";
import type { BrowserPools } from "./pools.ts";

type BrowserPoolEndpoints = Pick<typeof endpoints, "createBrowserPool" | "listBrowserPools" | "getBrowserPool" | "updateBrowserPool" | "deleteBrowserPool" | "acquireBrowser" | "releaseBrowser" | "flushBrowserPool">;

export function browserPoolHandlers(pools: BrowserPools, signer: SessionSigner): Handlers<BrowserPoolEndpoints, Access> {
  return {
    createBrowserPool: ({ body, context }) => pools.create(context.projectId, body),
    listBrowserPools: ({ query, context }) => pools.list(context.projectId, query),
    getBrowserPool: ({ params, context }) => pools.get(context.projectId, params.id_or_name),
    updateBrowserPool: ({ params, body, context }) => pools.update(context.projectId, params.id_or_name, body),
    deleteBrowserPool: ({ params, body, context }) => pools.delete(context.projectId, params.id_or_name, body.force),
    async acquireBrowser({ params, body, context, signal }) {
      const view = await pools.acquire(context.projectId, params.id_or_name, body, signal);
      return view && toBrowser(view, context.baseUrl, signer);
    },
    releaseBrowser: ({ params, body, context }) => pools.release(context.projectId, params.id_or_name, body),
    flushBrowserPool: ({ params, context }) => pools.flush(context.projectId, params.id_or_name),
  };
}
