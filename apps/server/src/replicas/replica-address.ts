import { networkInterfaces } from "node:os";
import { isIP } from "node:net";

/** The first address of this machine that others can reach, IPv4 before IPv6. */
function ownAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, scopeid }) => !internal && !scopeid);
  return (addresses.find(({ family }) => family === "IPv4") ?? addresses[0])?.address;
}

/**
 * Where the other servers of an installation reach this one when nobody says so: where it listens, or this machine's first address where that is every one.
 *
 * @param baseUrl - where this machine reaches it.
 * @param host - what it was told to listen on.
 */
export function replicaAddress(baseUrl: string, host: string): string {
  const url = new URL(baseUrl);
  const own = host === "0.0.0.0" || host === "::" ? ownAddress() : undefined;
  if (own !== undefined) url.hostname = isIP(own) === 6 ? `[${own}]` : own;
  return url.origin;
}
