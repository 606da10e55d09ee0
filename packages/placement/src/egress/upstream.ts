import { hostAndPort, parseIpAddress, withoutEnd } from "@shoal/primitives/hosts";
import type { EgressUpstream } from "../interface/egress.ts";
import { PlacementError } from "../interface/placement-error.ts";
import {
  createAllowListPolicy,
  type EgressPolicy,
  type ResolvedAddress,
  type ResolveName,
} from "../policy/egress-policy.ts";
import { getCACertificates } from "node:tls";

export interface ParsedUpstream {
  readonly hostname: string;
  readonly port: number;
  bypasses(hostname: string): boolean;
  readonly username: string;
  readonly password: string;
  /** `undefined` without credentials and for SOCKS. */
  readonly authorization: string | undefined;
  readonly isSocks: boolean;
  readonly isTls: boolean;
  readonly authorities: string | undefined;
}

/** In addition to the default authorities. */
export function trusting(authorities: string | undefined): { readonly ca?: string[] } {
  return authorities === undefined ? {} : { ca: [...getCACertificates("default"), authorities] };
}

const defaultPorts: Readonly<Record<string, number>> = { "http:": 80, "https:": 443, "socks5:": 1080 };

function plain(hostname: string): string {
  return withoutEnd(hostname.toLowerCase(), ".");
}

/** @throws {PlacementError} `bad_option`; the message omits the address, which may contain a password. */
export function parseUpstream({ url, bypassHosts, authorities }: EgressUpstream): ParsedUpstream {
  const parsed = URL.parse(url);
  const defaultPort = defaultPorts[parsed?.protocol ?? ""];
  if (!parsed || defaultPort === undefined || parsed.hostname === "")
    throw new PlacementError(
      "bad_option",
      "The address of a proxy must be an http://, https:// or socks5:// URL with a host.",
    );
  const isSocks = parsed.protocol === "socks5:";
  const bypassed = bypassHosts.map(plain);
  const [username, password] = [decoded(parsed.username), decoded(parsed.password)];
  const port = parsed.port === "" ? defaultPort : Number(parsed.port);
  return {
    hostname: parsed.hostname,
    port,
    isSocks,
    isTls: parsed.protocol === "https:",
    authorities,
    username,
    password,
    authorization:
      isSocks || (username === "" && password === "")
        ? undefined
        : `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`,
    bypasses(hostname) {
      const name = plain(hostname);
      return bypassed.some((host) => (host.startsWith("*.") ? name.endsWith(host.slice(1)) : name === host));
    },
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The proxy by which this machine reaches the internet. */
export interface MachineProxy {
  readonly proxy: ParsedUpstream;
  /** Allows the proxy alone, also a private one: the operator named it. */
  readonly policy: EgressPolicy;
}

/** @throws {PlacementError} `bad_option` */
export function createMachineProxy(upstream: EgressUpstream, resolveName: ResolveName): MachineProxy {
  const proxy = parseUpstream(upstream);
  return { proxy, policy: createAllowListPolicy([hostAndPort(proxy.hostname, proxy.port)], resolveName) };
}

/** The hosts that an operator allows for pages and builds although they are private: the proxy may not reach them. */
export function arePrivate(addresses: readonly ResolvedAddress[]): boolean {
  return addresses.every(({ address }) => parseIpAddress(address)?.range() !== "unicast");
}
