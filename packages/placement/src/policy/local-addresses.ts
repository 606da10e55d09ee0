import { isIpv4, parseIpAddress, type IpAddress } from "./ip-address.ts";
import { embeddedAddresses, privateBecause } from "./private-addresses.ts";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { networkInterfaces } from "node:os";

/** Addresses of this machine and of the other servers of its installation, also public ones. */
export interface LocalAddresses {
  /** Returns a clause to follow "is", or `undefined`. Asks the kernel each time, because interfaces change. */
  describe(address: IpAddress): Promise<string | undefined>;
}

export interface LocalAddressesOptions {
  /** Of the other servers, in standard notation. */
  readonly otherServers?: (() => Iterable<string>) | undefined;
  /** Of this machine. */
  readonly interfaces?: () => Iterable<string>;
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
  for (const each of addresses) if (isSame(each, wanted)) return true;
  return false;
}

export function createLocalAddresses({
  otherServers = () => [],
  interfaces = interfaceAddresses,
}: LocalAddressesOptions = {}): LocalAddresses {
  return {
    async describe(address) {
      for (const each of [address, ...embeddedAddresses(address)]) {
        if (includes(interfaces(), each) || (await isRoutedHere(each)))
          return "an address of the machine of the service";
        if (includes(otherServers(), each)) return "an address of another server of the service";
      }
      return undefined;
    },
  };
}

/** Returns why an address is not public, as a clause to follow "is"; `undefined` for a public one. */
export async function localBecause(address: IpAddress, local: LocalAddresses): Promise<string | undefined> {
  return privateBecause(address) ?? (await local.describe(address));
}
