import { firstAndLast, type IpRange, isIpv4, parseIpRange, privateBecause } from "@shoal/primitives/hosts";
import { parseHosts } from "./egress-policy.ts";
import { PlacementError } from "../interface/placement-error.ts";

/** Returns a problem, `private_hosts: "…" is not a host. …`, or `undefined`. */
export function checkPrivateHosts(hosts: readonly string[]): string | undefined {
  try {
    parseHosts("private_hosts", hosts);
    for (const [index, host] of hosts.entries()) {
      const range = parseIpRange(host);
      const problem = range && problemOf(range, host);
      if (problem !== undefined) return `private_hosts[${String(index)}]: ${problem}`;
    }
    return undefined;
  } catch (error) {
    if (PlacementError.isInstance(error)) return error.message;
    throw error;
  }
}

/** A range that is written in another way than it is meant would open more or less than the caller expects. */
function problemOf(range: IpRange, host: string): string | undefined {
  const { address, prefixLength } = range;
  const [first, last] = firstAndLast(range);
  if (host.includes("/") && first.toString() !== address.toString())
    return `"${host}" has bits after its prefix; write ${first.toString()}/${String(prefixLength)} for the range, or ${address.toString()} for the address`;
  // Larger ranges begin and end with private addresses.
  const isLarge = prefixLength < (isIpv4(address) ? 8 : 7);
  if (isLarge || privateBecause(first) === undefined || privateBecause(last) === undefined)
    return `"${host}" is not private: sessions reach public addresses without it, and network.allow limits them`;
  return undefined;
}
