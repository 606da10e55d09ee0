import { type IpAddress, type IpRange, isInRange, isIpv4, parseIpAddress } from "@shoal/primitives/hosts";
import ipaddr from "ipaddr.js";
import { Resolver } from "node:dns/promises";

/** The only addresses of `ipv4only.arpa`: a NAT64's resolver embeds them in its own prefix (RFC 7050). */
const wellKnown: ReadonlySet<string> = new Set(["192.0.0.170", "192.0.0.171"]);
/** RFC 6052. The bits after a shorter prefix skip the ninth byte. */
const positions: ReadonlyMap<number, readonly [number, number, number, number]> = new Map([
  [32, [4, 5, 6, 7]],
  [40, [5, 6, 7, 9]],
  [48, [6, 7, 9, 10]],
  [56, [7, 9, 10, 11]],
  [64, [9, 10, 11, 12]],
  [96, [12, 13, 14, 15]],
]);
const validMs = 5 * 60_000;

/** Looks up the IPv6 addresses of a name. */
export type LookUpIpv6 = (name: string) => Promise<readonly string[]>;

async function askResolver(name: string): Promise<readonly string[]> {
  return new Resolver({ timeout: 1_000, tries: 2 }).resolve6(name);
}

/** The prefixes by which this network reaches IPv4 addresses. */
export class Nat64Prefixes {
  readonly #lookUp: LookUpIpv6;
  #known: Promise<readonly IpRange[]> | undefined;
  #askedAtMs = 0;

  constructor(lookUp: LookUpIpv6 = askResolver) {
    this.#lookUp = lookUp;
  }

  /** Returns the IPv4 addresses that an address embeds after one of the prefixes. */
  async embedded(address: IpAddress): Promise<readonly IpAddress[]> {
    if (isIpv4(address)) return [];
    const prefixes = await this.#prefixes();
    return prefixes.flatMap((prefix) =>
      isInRange(address, prefix) ? (ipv4After(address, prefix.prefixLength) ?? []) : [],
    );
  }

  /** None without an answer: then names have no such addresses either. */
  #prefixes(): Promise<readonly IpRange[]> {
    const nowMs = performance.now();
    if (this.#known !== undefined && nowMs - this.#askedAtMs < validMs) return this.#known;
    this.#askedAtMs = nowMs;
    this.#known = this.#lookUp("ipv4only.arpa").then(
      (answers) => answers.flatMap(prefixesOf),
      () => [],
    );
    return this.#known;
  }
}

function prefixesOf(answer: string): IpRange[] {
  const address = parseIpAddress(answer);
  if (address === undefined || isIpv4(address)) return [];
  return [...positions.keys()].flatMap((prefixLength) =>
    wellKnown.has(ipv4After(address, prefixLength)?.toString() ?? "") ? [{ address, prefixLength }] : [],
  );
}

function ipv4After(address: IpAddress, prefixLength: number): IpAddress | undefined {
  const bytes = address.toByteArray();
  const part = positions.get(prefixLength)?.map((at) => bytes[at] ?? 0);
  return part && ipaddr.fromByteArray(part);
}
