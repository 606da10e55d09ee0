import { BlockList, isIP } from "node:net";

/** The address without what only names its form: `::ffff:10.0.0.1` is 10.0.0.1, `fe80::1%eth0` is fe80::1. */
export function plainAddress(address: string): string {
  const bare = address.replace(/%.*$/, "");
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1];
  return mapped ?? bare;
}

interface Range {
  readonly address: string;
  readonly bits: number;
  readonly family: "ipv4" | "ipv6";
}

function rangeOf(entry: string): Range | undefined {
  const [, address = "", length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  const version = isIP(address);
  if (version === 0) return undefined;
  const most = version === 4 ? 32 : 128;
  const bits = length === undefined ? most : Number(length);
  return bits > most ? undefined : { address, bits, family: version === 4 ? "ipv4" : "ipv6" };
}

/** Whether a text is an address or a CIDR range: `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`. */
export function isAddressRange(entry: string): boolean {
  return rangeOf(entry) !== undefined;
}

/** Tells whether an address belongs to one of some ranges, all of which {@link isAddressRange} has accepted. */
export function addressMatcher(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const range = rangeOf(entry);
    if (range !== undefined) list.addSubnet(range.address, range.bits, range.family);
  }
  return (address) => {
    const version = isIP(address);
    return version !== 0 && list.check(address, version === 4 ? "ipv4" : "ipv6");
  };
}
