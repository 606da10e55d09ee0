import { parseHosts } from "./egress-policy.ts";
import { PlacementError } from "./placement-error.ts";

/** What is wrong with private hosts that a session is to reach: `private_hosts: "…" is not a host. …`; `undefined` when they can be read. */
export function checkPrivateHosts(hosts: readonly string[]): string | undefined {
  try {
    parseHosts("private_hosts", hosts);
    return undefined;
  } catch (error) {
    if (PlacementError.isInstance(error)) return error.message;
    throw error;
  }
}
