import type { Regions } from "../../cluster/regions.ts";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import type { SessionSigner } from "../browsers/handlers.ts";
import { browserPoolHandlers } from "./handlers.ts";
import { type BrowserPoolsParts, openBrowserPools } from "./pools.ts";

interface PoolNeeds extends Pick<BrowserPoolsParts, "limits" | "sessions" | "sessionStore"> {
  readonly regions: Regions;
  readonly signer: SessionSigner;
}

export async function browserPoolsFeature(
  { config, database, log, serverId }: Host,
  { regions, signer, ...needs }: PoolNeeds,
) {
  const pools = await openBrowserPools({ ...needs, database, serverId, region: config.region, log });
  return {
    provides: pools,
    handlers: browserPoolHandlers(pools, signer, regions),
    stop: () => pools.close(),
  } satisfies Feature;
}
