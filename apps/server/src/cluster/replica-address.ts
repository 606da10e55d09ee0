import { networkInterfaces } from "node:os";
import { isIP } from "node:net";

/** Addresses of this machine for other servers, which keep sessions away from them. */
export function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).flatMap(({ address, internal }) => (internal ? [] : [address])),
  );
}

function ownAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, scopeid }) => !internal && !scopeid);
  return (addresses.find(({ family }) => family === "IPv4") ?? addresses[0])?.address;
}

/**
 * The listen address, or the first external address when the server listens on all.
 * @param baseUrl - URL of this server on this machine.
 */
export function replicaAddress(baseUrl: string, host: string): string {
  const url = new URL(baseUrl);
  const own = host === "0.0.0.0" || host === "::" ? ownAddress() : undefined;
  if (own !== undefined) url.hostname = isIP(own) === 6 ? `[${own}]` : own;
  return url.origin;
}
