import { canonicalName, hostAndPort } from "./host-name.ts";
import { parseIpAddress } from "./ip-address.ts";
import { readNamePattern } from "./name-pattern.ts";
import { getDomain } from "tldts";

/** Hosts of `network.headers` and `network.http_auth`: a name, all names below one, or an address, of one port or all. */
export interface HeaderHost {
  /** Canonical, without `*.`. */
  readonly name: string;
  readonly isWild: boolean;
  /** Absent = every port. */
  readonly port?: number;
}

/** Returns `undefined` for an invalid text. */
export function readHeaderHost(text: string): HeaderHost | undefined {
  const [, host = "", port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text.trim()) ?? [];
  const ofPort = port === undefined ? {} : { port: Number(port) };
  if (port !== undefined && (Number(port) < 1 || Number(port) > 65_535)) return undefined;
  const pattern = readNamePattern(host);
  if (pattern !== undefined) return { ...pattern, ...ofPort };
  const address = /^[\d.]+$|^\[[\da-f:.]+\]$/i.test(host) ? parseIpAddress(canonicalName(host) ?? "") : undefined;
  return address && { name: address.toString(), isWild: false, ...ofPort };
}

/** The notation of answers. */
export function headerHostText({ isWild, name, port }: HeaderHost): string {
  const host = hostAndPort(name, port ?? 0);
  return `${isWild ? "*." : ""}${port === undefined ? host.slice(0, -2) : host}`;
}

/** Whether every host of `inner` is one of `outer`. */
export function isWithinHost(inner: HeaderHost, outer: HeaderHost): boolean {
  if (outer.port !== undefined && inner.port !== outer.port) return false;
  if (!outer.isWild) return !inner.isWild && inner.name === outer.name;
  return inner.name.endsWith(`.${outer.name}`) || (inner.isWild && inner.name === outer.name);
}

/** Whether a host can be one of both. */
export function overlappingHost(one: HeaderHost, other: HeaderHost): boolean {
  const withoutPort = ({ isWild, name }: HeaderHost): HeaderHost => ({ isWild, name });
  if (one.port !== undefined && other.port !== undefined && one.port !== other.port) return false;
  return isWithinHost(withoutPort(one), withoutPort(other)) || isWithinHost(withoutPort(other), withoutPort(one));
}

/** Whether two URLs are of one site, by their registrable domain, or by their host without one. Ports do not matter. */
export function isSameSite(one: string, other: string): boolean {
  const [first, second] = [one, other].map((url) => {
    const host = URL.parse(url)?.hostname.replace(/\.$/, "") ?? "";
    return getDomain(host, { allowPrivateDomains: true }) ?? host;
  });
  return first !== "" && first === second;
}

/** The host of an `http:` or `https:` URL, with its port. */
export function headerHostOf(url: string): HeaderHost | undefined {
  const parsed = URL.parse(url);
  if (parsed === null) return undefined;
  const bare = canonicalName(parsed.hostname);
  const name = bare && (parseIpAddress(bare)?.toString() ?? bare);
  const port = Number(parsed.port) || (parsed.protocol === "https:" ? 443 : 80);
  return name === undefined ? undefined : { name, isWild: false, port };
}
