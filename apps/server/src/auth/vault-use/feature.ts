import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import type { VaultParts } from "../vaults/handlers.ts";
import { type FillParts, ItemFills } from "./item-fills.ts";
import { operationHandlers } from "./operations.ts";

type SessionNeeds = Pick<FillParts, "gate" | "regions" | "sessions" | "signInBrowsers">;

/** The operations by which items are used. */
export function vaultUseFeature({ database, log }: Host, parts: VaultParts, needs: SessionNeeds) {
  return { handlers: operationHandlers(parts, new ItemFills({ ...parts, ...needs, database, log })) } satisfies Feature;
}
