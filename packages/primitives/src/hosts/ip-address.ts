import ipaddr from "ipaddr.js";

/** IPv4-mapped IPv6 addresses are converted to IPv4. */
export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** The addresses whose first `prefixLength` bits are those of `address`: 0 to 32 for IPv4, 0 to 128 for IPv6. */
export interface IpRange {
  readonly address: IpAddress;
  readonly prefixLength: number;
}

const decimalPart = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const fourParts = new RegExp(`^${decimalPart}(?:\\.${decimalPart}){3}$`);
const ipv6WithZone = /^([\da-f.]*:[\da-f:.]*)(?:%[\da-z_.:-]+)?$/i;

/** Reads standard notation, with or without a zone (`%eth0`); not octal, hexadecimal or short IPv4. */
export function parseIpAddress(text: string): IpAddress | undefined {
  // ipaddr.js also accepts historic notations of IPv4, which programs read differently.
  if (fourParts.test(text)) return ipaddr.process(text);
  const bare = ipv6WithZone.exec(text)?.[1];
  return bare !== undefined && URL.canParse(`http://[${bare}]/`) ? ipaddr.process(bare) : undefined;
}

/** Reads CIDR notation, or one address as a range with no other; `undefined` if invalid. */
export function parseIpRange(text: string): IpRange | undefined {
  const [addressText = "", lengthText, ...rest] = text.split("/");
  const address = parseIpAddress(addressText);
  if (address === undefined || rest.length > 0) return undefined;
  const width = 8 * address.toByteArray().length;
  if (lengthText === undefined) return { address, prefixLength: width };
  // The prefix of a mapped address counts from the first of 128 bits.
  const prefixLength = Number(lengthText) - (addressText.includes(":") && isIpv4(address) ? 96 : 0);
  if (!/^\d{1,3}$/.test(lengthText) || prefixLength < 0 || prefixLength > width) return undefined;
  return { address, prefixLength };
}

/** An address of the other family is in no range. */
export function isInRange(address: IpAddress, { address: network, prefixLength }: IpRange): boolean {
  // `match` throws for addresses of different families.
  return address.kind() === network.kind() && address.match(network, prefixLength);
}

/** Whether an address is IPv4, or was IPv4-mapped IPv6. */
export function isIpv4(address: IpAddress): address is ipaddr.IPv4 {
  return address.kind() === "ipv4";
}

/** The IPv4 address in the last 32 bits of an IPv6 address, as with NAT64. */
export function embeddedIpv4(address: IpAddress): IpAddress {
  return ipaddr.fromByteArray(address.toByteArray().slice(-4));
}

/** The lowest and the highest address of a range. */
export function firstAndLast({ address, prefixLength }: IpRange): readonly [IpAddress, IpAddress] {
  const bytes = address.toByteArray();
  const mask = (index: number) => 255 >> Math.min(8, Math.max(0, prefixLength - 8 * index));
  const end = (of: (byte: number, hostBits: number) => number) =>
    ipaddr.fromByteArray(bytes.map((byte, index) => of(byte, mask(index))));
  return [end((byte, bits) => byte & ~bits & 255), end((byte, bits) => byte | bits)];
}
