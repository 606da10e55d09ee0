import type { OperationsOf } from "@shoal/contract";
import type { Handlers } from "@shoal/router";
import type { Access } from "../../http/auth/access.ts";
import { mayUseAllVaults, mayUseSecrets } from "../../http/auth/rights.ts";
import { refuseHeaders } from "../browsers/options/exit-headers.ts";
import { type SessionSigner, toBrowser } from "../browsers/handlers.ts";
import { RegionElsewhere } from "../../cluster/elsewhere.ts";
import type { Regions } from "../../cluster/regions.ts";
import { needsVaultsOfProject } from "./pool-errors.ts";
import type { BrowserPools } from "./pools.ts";

export function browserPoolHandlers(
  pools: BrowserPools,
  signer: SessionSigner,
  regions: Pick<Regions, "answer" | "hasOthers">,
): Handlers<OperationsOf<"browserPools">, Access> {
  return {
    createBrowserPool(call) {
      if (!mayUseSecrets(call.context)) refuseHeaders(call.body.network);
      refuseVaults(call.context, call.body);
      return regions.answer(call, () => pools.create(call.context.projectId, call.body));
    },
    listBrowserPools: ({ query, context }) => pools.list(context.projectId, query),
    getBrowserPool: ({ params, context }) => pools.get(context.projectId, params.id_or_name),
    updateBrowserPool({ params, body, context }) {
      if (!mayUseSecrets(context)) refuseHeaders(body.network);
      refuseVaults(context, body);
      return pools.update(context.projectId, params.id_or_name, body);
    },
    deleteBrowserPool: ({ params, body, context }) => pools.delete(context.projectId, params.id_or_name, body.force),
    acquireBrowser(call) {
      const { params, body, context, signal } = call;
      const acquire = async () => {
        if (pools.isDraining && regions.hasOthers) return pools.elsewhere(context.projectId, params.id_or_name);
        const view = await pools.acquire(
          context.projectId,
          params.id_or_name,
          { ...body, apiKeyId: context.key.id, usesVaults: mayUseAllVaults(context) },
          signal,
        );
        return view instanceof RegionElsewhere ? view : view && toBrowser(view, context, signer);
      };
      // A draining server has already refused its waiting callers.
      return regions.answer(call, acquire, pools.isDraining ? undefined : pools.closing);
    },
    releaseBrowser: ({ params, body, context }) => pools.release(context.projectId, params.id_or_name, body),
    flushBrowserPool: ({ params, context }) => pools.flush(context.projectId, params.id_or_name),
  };
}

/** Names of vaults are not judged one by one. @throws {ServiceError} 403. */
function refuseVaults(context: Access, { vaults = [] }: { readonly vaults?: readonly unknown[] | undefined }): void {
  if (vaults.length > 0 && !mayUseAllVaults(context)) throw needsVaultsOfProject();
}
