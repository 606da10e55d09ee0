import {
  embeddedAddresses,
  type IpAddress,
  isInRange,
  isIpv4,
  parseIpAddress,
  parseIpRange,
  privateBecause,
} from "@shoal/primitives/hosts";
import { hasLocalIpv6Route } from "./ipv6-routes.ts";
import { type LookUpIpv6, Nat64Prefixes } from "./nat64-prefixes.ts";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { networkInterfaces } from "node:os";

/** Addresses of this machine and of the other servers of its installation, also public ones. */
export interface LocalAddresses {
  /** Returns a clause to follow "is", or `undefined`. Asks the kernel each time, because interfaces change. */
  describe(address: IpAddress): Promise<string | undefined>;
}

export interface LocalAddressesOptions {
  /** Of the other servers, and ranges that the operator names, in standard notation. */
  readonly otherServers?: (() => Iterable<string>) | undefined;
  /** Of this machine. */
  readonly interfaces?: () => Iterable<string>;
  readonly lookUpIpv6?: LookUpIpv6;
}

function interfaceAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}

/** Any port: connecting a datagram socket only chooses a route. */
const probedPort = 9;

/** Covers addresses of interfaces without a carrier, and local routes, which are not listed. */
async function isRoutedHere(address: IpAddress): Promise<boolean> {
  const socket = createSocket(isIpv4(address) ? "udp4" : "udp6");
  try {
    socket.connect(probedPort, address.toString());
    await once(socket, "connect");
    return isSame(socket.address().address, address);
  } catch {
    // The network is unreachable, so that a connection fails, too.
    return false;
  } finally {
    socket.close();
  }
}

function isSame(text: string, address: IpAddress): boolean {
  return parseIpAddress(text)?.toNormalizedString() === address.toNormalizedString();
}

function includes(addresses: Iterable<string>, wanted: IpAddress): boolean {
  for (const each of addresses) {
    const range = parseIpRange(each.split("%", 1)[0] ?? "");
    if (range !== undefined && isInRange(wanted, range)) return true;
  }
  return false;
}

export function createLocalAddresses({
  otherServers = () => [],
  interfaces = interfaceAddresses,
  lookUpIpv6,
}: LocalAddressesOptions = {}): LocalAddresses {
  const nat64 = new Nat64Prefixes(lookUpIpv6);

  async function describeOne(address: IpAddress): Promise<string | undefined> {
    if (includes(interfaces(), address) || (await isRoutedHere(address)) || (await hasLocalIpv6Route(address)))
      return "an address of the machine of the service";
    return includes(otherServers(), address) ? "another address of the service" : undefined;
  }

  return {
    async describe(address) {
      for (const each of [address, ...embeddedAddresses(address)]) {
        const found = await describeOne(each);
        if (found !== undefined) return found;
      }
      // Last, because it may ask a resolver.
      for (const each of await nat64.embedded(address)) {
        const found = privateBecause(each) ?? (await describeOne(each));
        if (found !== undefined) return found;
      }
      return undefined;
    },
  };
}

/** Returns why an address is not public, as a clause to follow "is"; `undefined` for a public one. */
export async function localBecause(address: IpAddress, local: LocalAddresses): Promise<string | undefined> {
  return privateBecause(address) ?? (await local.describe(address));
}
