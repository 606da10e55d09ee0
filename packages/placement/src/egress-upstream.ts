import { PlacementError } from "./placement-error.ts";
import { getCACertificates } from "node:tls";

/** A proxy server that a session's traffic leaves by, instead of leaving from this host. */
export interface EgressUpstream {
  /** `http://`, `https://` (TLS to the proxy itself) or `socks5://`; user name and password percent-encoded. Names that pages ask for are resolved by the proxy. */
  readonly url: string;
  /** Hosts that are reached without it: whole names, or `*.example.com` for all below one. */
  readonly bypassHosts: readonly string[];
  /** Certificates of its authority, PEM: it may sign its own with it, and those of the pages that it opens. */
  readonly authorities?: string | undefined;
}

/** A proxy server, read. */
export interface ParsedUpstream {
  readonly hostname: string;
  readonly port: number;
  /** Whether a host is reached without it. Case and a final dot do not matter. */
  bypasses(hostname: string): boolean;
  /** Decoded; empty when it has none. */
  readonly username: string;
  readonly password: string;
  /** Value of `Proxy-Authorization`; `undefined` without credentials and for SOCKS. */
  readonly authorization: string | undefined;
  readonly isSocks: boolean;
  /** Whether it is spoken to inside TLS. */
  readonly isTls: boolean;
  /** See {@link EgressUpstream.authorities}. */
  readonly authorities: string | undefined;
}

/** The options of a TLS connection that trusts authorities beside those that this program trusts anyway. */
export function trusting(authorities: string | undefined): { readonly ca?: string[] } {
  return authorities === undefined ? {} : { ca: [...getCACertificates("default"), authorities] };
}

const defaultPorts: Readonly<Record<string, number>> = { "http:": 80, "https:": 443, "socks5:": 1080 };

function plain(hostname: string): string {
  return hostname.toLowerCase().replace(/\.+$/, "");
}

/** @throws {PlacementError} `bad_option`; the message holds nothing of the address, which carries a password. */
export function parseUpstream({ url, bypassHosts, authorities }: EgressUpstream): ParsedUpstream {
  const parsed = URL.parse(url);
  const defaultPort = defaultPorts[parsed?.protocol ?? ""];
  if (!parsed || defaultPort === undefined || parsed.hostname === "")
    throw new PlacementError("bad_option", "A proxy's address must be an http://, https:// or socks5:// URL with a host.");
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
    authorization: isSocks || (username === "" && password === "") ? undefined : `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`,
    bypasses(hostname) {
      const name = plain(hostname);
      return bypassed.some((host) => (host.startsWith("*.") ? name.endsWith(host.slice(1)) : name === host));
    },
  };
}

/** A percent sign that encodes nothing stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
