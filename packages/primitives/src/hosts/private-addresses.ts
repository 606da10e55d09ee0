import {
  embeddedIpv4,
  firstAndLast,
  isInRange,
  isIpv4,
  parseIpRange,
  type IpAddress,
  type IpRange,
} from "./ip-address.ts";

/** The IANA special-purpose registries, and metadata services with public addresses. */
const privateRanges: readonly (readonly [range: IpRange, name: string])[] = table([
  ["0.0.0.0/8", "this host"],
  ["10.0.0.0/8", "a private network"],
  ["100.64.0.0/10", "a carrier's private network"],
  ["127.0.0.0/8", "the loopback network"],
  ["168.63.129.16/32", "a cloud's metadata service"],
  ["169.254.0.0/16", "link-local, where metadata services are"],
  ["172.16.0.0/12", "a private network"],
  ["192.0.0.0/24", "reserved"],
  ["192.0.2.0/24", "reserved for documentation"],
  ["192.88.99.0/24", "reserved"],
  ["192.168.0.0/16", "a private network"],
  ["198.18.0.0/15", "reserved for measurements"],
  ["198.51.100.0/24", "reserved for documentation"],
  ["203.0.113.0/24", "reserved for documentation"],
  ["224.0.0.0/4", "multicast"],
  ["240.0.0.0/4", "reserved"],
  ["::1/128", "the loopback address"],
  ["::/128", "this host"],
  ["fc00::/7", "a private network"],
  ["fe80::/10", "link-local"],
  ["ff00::/8", "multicast"],
  ["2001::/23", "reserved"],
  ["2001:db8::/32", "reserved for documentation"],
  ["2002::/16", "6to4"],
  ["3fff::/20", "reserved for documentation"],
]);

const [globalUnicast, nat64] = table([
  ["2000::/3", "global unicast"],
  ["64:ff9b::/96", "NAT64"],
]).map(([range]) => range);

/** The identifier of ISATAP, with the universal bit or without. */
const isatap: ReadonlySet<string> = new Set(["0:5efe", "200:5efe"]);

/** Returns the IPv4 address that NAT64 or ISATAP reaches by this address, if any. 6to4 and Teredo are private. */
export function embeddedAddresses(address: IpAddress): readonly IpAddress[] {
  if (isIpv4(address)) return [];
  const identifier = address.parts
    .slice(4, 6)
    .map((part) => part.toString(16))
    .join(":");
  const isNat64 = nat64 !== undefined && isInRange(address, nat64);
  return isNat64 || isatap.has(identifier) ? [embeddedIpv4(address)] : [];
}

/** Returns the kind of a private address, to follow "is" in a sentence; `undefined` for a public one. */
export function privateBecause(address: IpAddress): string | undefined {
  const [embedded] = embeddedAddresses(address);
  const inside = embedded && privateBecause(embedded);
  if (inside !== undefined || (nat64 !== undefined && isInRange(address, nat64))) return inside;
  const found = privateRanges.find(([range]) => isInRange(address, range));
  if (found !== undefined) return found[1];
  if (!isIpv4(address) && globalUnicast !== undefined && !isInRange(address, globalUnicast)) return "reserved";
  return undefined;
}

/** Returns the kind of a private address in the range, if there is one. Closed for IPv6: only global unicast is public. */
export function privateOverlap(range: IpRange): string | undefined {
  const found = privateRanges.find(([other]) => isInRange(range.address, other) || isInRange(other.address, range));
  if (found !== undefined) return found[1];
  if (isIpv4(range.address)) return undefined;
  const isGlobal = globalUnicast !== undefined && firstAndLast(range).every((end) => isInRange(end, globalUnicast));
  return isGlobal ? privateBecause(range.address) : "reserved";
}

function table(rows: readonly (readonly [string, string])[]): (readonly [IpRange, string])[] {
  return rows.flatMap(([text, name]) => {
    const range = parseIpRange(text);
    return range === undefined ? [] : [[range, name] as const];
  });
}
