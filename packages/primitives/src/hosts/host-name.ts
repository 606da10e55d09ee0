import { parseIpAddress } from "./ip-address.ts";
import { withoutEnd } from "./without-end.ts";

/** Returns lower case without final dot and brackets, and IPv4 in four decimal parts; `undefined` if invalid. */
export function canonicalName(hostname: string): string | undefined {
  const bare = hostname.startsWith("[") && hostname.endsWith("]") ? hostname.slice(1, -1) : hostname;
  if (parseIpAddress(bare)) return bare.split("%", 1)[0];
  // These characters would end the host in a URL.
  if (/[/?#@\\:]/.test(bare)) return undefined;
  const parsed = withoutEnd(URL.parse(`http://${bare}/`)?.hostname ?? "", ".");
  return parsed === "" || parsed.length > 253 ? undefined : parsed;
}

/** Puts IPv6 addresses in brackets, as URLs and `Host` headers have them. */
export function hostAndPort(name: string, port: number): string {
  return `${name.includes(":") ? `[${name}]` : name}:${String(port)}`;
}
