import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { handoffHandlers } from "./handlers.ts";
import { type HandoffParts, Handoffs } from "./handoffs.ts";

export function signInHandoffsFeature(
  { database, secrets }: Host,
  needs: Pick<HandoffParts, "issuingKeys" | "projects">,
) {
  const handoffs = new Handoffs({ ...needs, database, secrets });
  return { provides: handoffs, openHandlers: handoffHandlers(handoffs) } satisfies Feature;
}
