import { getPublicSuffix } from "tldts";
import { canonicalName } from "./host-name.ts";
import { firstAndLast, type IpRange, isInRange, isIpv4, parseIpAddress, parseIpRange } from "./ip-address.ts";
import { namePatterns, overlappingName, patternText, readNamePattern } from "./name-pattern.ts";
import { privateOverlap } from "./private-addresses.ts";

/** A problem of one entry, to follow its quoted text. */
interface Problem {
  readonly index: number;
  readonly problem: string;
  readonly hint: string;
}

const hint =
  "Write a name (example.com), all names below one (*.example.com), a public IPv4 address (8.8.8.8), a public IPv6 address in brackets ([2001:4860:4860::8888]), or a public range (8.8.4.0/24). No port, scheme and path: an entry allows all ports.";

/**
 * Reads `network.allowed_hosts`. Returns its canonical entries without duplicates, or the first problem.
 * @param privateHosts - entries of `network.private_hosts`, which must not match the same names.
 */
export function readAllowedHosts(
  entries: readonly string[],
  privateHosts: readonly string[] = [],
): { readonly entries: readonly string[] } | Problem {
  const privateNames = privateHosts.flatMap((host) => readNamePattern(withoutPort(host)) ?? []);
  const read: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const text = entry.trim();
    const pattern = readNamePattern(text);
    if (pattern === undefined) {
      const address = readAddress(text);
      if ("problem" in address) return { index, problem: address.problem, hint };
      read.push(address.text);
      continue;
    }
    if (pattern.isWild && getPublicSuffix(pattern.name, { allowPrivateDomains: true }) === pattern.name)
      return {
        index,
        problem: `allows every site below the public suffix ${pattern.name}, whose sites belong to different owners`,
        hint: `List the sites, such as *.example.${pattern.name}.`,
      };
    if (privateNames.some((other) => overlappingName(pattern, other)))
      return {
        index,
        problem: "matches hosts of network.private_hosts",
        hint: "Remove it from one of the lists. A session reaches its private_hosts without an entry here.",
      };
    read.push(patternText(pattern));
  }
  return { entries: [...new Set(read)] };
}

/** `[::1]:80` and `a.example:80` without the port. */
function withoutPort(host: string): string {
  return host.trim().replace(/^([^:]+):\d+$/, "$1");
}

function readAddress(text: string): { readonly text: string } | { readonly problem: string } {
  const [, bracketed, bare, length] = /^(?:\[([\da-f:.]+)\]|([\da-f:.]+)(?:\/(\d{1,3}))?)$/i.exec(text) ?? [];
  const written = (bracketed ?? bare ?? "").toLowerCase();
  const range = parseIpRange(length === undefined ? written : `${written}/${length}`);
  if (range === undefined || (bracketed !== undefined && !bracketed.includes(":")))
    return { problem: "is not a host, a public address or a public range" };
  if (written.includes(":") && isIpv4(range.address)) return { problem: "is an IPv4 address in IPv6 notation" };
  if (written.includes(":") && bracketed === undefined && length === undefined)
    return { problem: "is an IPv6 address without brackets" };
  const [first] = firstAndLast(range);
  if (first.toString() !== range.address.toString())
    return { problem: `has bits after its prefix; the range is ${first.toString()}/${String(range.prefixLength)}` };
  const kind = privateOverlap(range);
  if (kind !== undefined) return { problem: `contains addresses that are not public (${kind})` };
  const address = range.address.toString();
  if (length !== undefined) return { text: `${address}/${String(range.prefixLength)}` };
  return { text: isIpv4(range.address) ? address : `[${address}]` };
}

/** Decides by `network.allowed_hosts` whether a host is allowed. Every other host is refused. */
export class AllowedHosts {
  readonly #allowsName: (name: string) => true | undefined;
  readonly #ranges: readonly IpRange[];

  /** @param entries - canonical. Ports are ignored, so that entries of `private_hosts` can be added. */
  constructor(entries: readonly string[]) {
    const hosts = entries.map(withoutPort);
    this.#allowsName = namePatterns(
      hosts.flatMap((host) => {
        const pattern = readNamePattern(host);
        return pattern === undefined ? [] : [[pattern, true] as const];
      }),
    );
    this.#ranges = hosts.flatMap((host) => parseIpRange(host.replace(/^\[([^\]]+)\](?::\d+)?$/, "$1")) ?? []);
  }

  /** Ranges allow only hosts that are written as addresses, never names that lead to them. */
  allows(hostname: string): boolean {
    const name = canonicalName(hostname);
    if (name === undefined) return false;
    const address = parseIpAddress(name);
    if (address === undefined) return this.#allowsName(name) === true;
    return this.#ranges.some((range) => isInRange(address, range));
  }
}
