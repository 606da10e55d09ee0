import { parseHosts } from "./egress-policy.ts";
import { PlacementError } from "../interface/placement-error.ts";

/** Returns a problem, `private_hosts: "…" is not a host. …`, or `undefined`. */
export function checkPrivateHosts(hosts: readonly string[]): string | undefined {
  try {
    parseHosts("private_hosts", hosts);
    return undefined;
  } catch (error) {
    if (PlacementError.isInstance(error)) return error.message;
    throw error;
  }
}
