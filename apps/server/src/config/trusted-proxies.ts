import ipaddr from "ipaddr.js";
import { isIP } from "node:net";

/** Returns the canonical form: `::ffff:10.0.0.1` becomes 10.0.0.1, `fe80::1%eth0` becomes fe80::1. Keeps other text. */
export function plainAddress(address: string): string {
  // `isIP` first: ipaddr.js also reads `127.1` and `0x7f.0.0.1`.
  return isIP(address) === 0 ? address : ipaddr.process(address.split("%", 1).join("")).toString();
}

/** Accepts `10.0.0.7`, `10.0.0.0/8` and `fd00::/8`. */
export function isAddressRange(entry: string): boolean {
  const [address = "", bits] = entry.split("/", 2);
  if (isIP(address) === 0 || address.includes("%")) return false;
  if (bits === undefined) return !entry.includes("/");
  return /^\d{1,3}$/.test(bits) && entry === `${address}/${bits}` && ipaddr.isValidCIDR(entry);
}

export function addressMatcher(entries: readonly string[]): (address: string) => boolean {
  const ranges = entries.map((entry) =>
    ipaddr.parseCIDR(entry.includes("/") ? entry : `${entry}/${isIP(entry) === 4 ? "32" : "128"}`),
  );
  return (address) => {
    if (isIP(address) === 0) return false;
    const parsed = ipaddr.parse(address);
    return ranges.some(([range, bits]) => parsed.kind() === range.kind() && parsed.match(range, bits));
  };
}
