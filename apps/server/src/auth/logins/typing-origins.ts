import { isSharedHost, providerHosts } from "@shoal/login";
import { isIP } from "node:net";
import { parse } from "tldts";

export interface StoredSites {
  /** Host names with an optional port, URLs, or `*.example.com`. */
  readonly sites: readonly string[];
  readonly ssoProvider?: string | undefined;
}

/**
 * The origins on which a stored value may be typed, as for `isAmongOrigins`: its sites with their subdomains, and the
 * login page of its provider. The settings of a connection cannot add any. Unencrypted only on hosts without a public
 * name.
 */
export function typingOrigins({ sites, ssoProvider }: StoredSites): readonly string[] {
  const own = sites.flatMap(originsOf);
  const ofProvider = ssoProvider === undefined ? [] : providerHosts(ssoProvider).map((host) => `https://${host}`);
  return [...new Set([...own, ...ofProvider])].slice(0, 400);
}

function originsOf(site: string): readonly string[] {
  const isWildcard = /^(?:https?:\/\/)?\*\./i.test(site);
  const bare = site.trim().replace(/^(?:https?:\/\/)?(?:\*\.)?/i, "");
  // An http URL, because it keeps port 443.
  const url = URL.parse(`http://${bare}`);
  if (url === null || url.hostname === "") return [];
  const host = url.hostname.replace(/\.$/, "");
  const { domain, isIcann, isPrivate } = parse(host, { allowPrivateDomains: true });
  const isPublicName = isIcann === true || isPrivate === true;
  const port = url.port === "" ? "" : `:${url.port}`;
  // `www.example.com` and `example.com` are one site.
  const name = host === `www.${domain ?? ""}` ? (domain ?? host) : host;
  const isAddress = isIP(host.replace(/^\[|\]$/g, "")) > 0;
  const mayHaveSubdomains = !isAddress && domain !== null && !isSharedHost(name);
  const hosts = [...(isWildcard ? [] : [name]), ...(mayHaveSubdomains ? [`*.${name}`] : [])];
  const protocols = isPublicName || (isAddress && !isLocalAddress(host)) ? ["https"] : ["https", "http"];
  return protocols.flatMap((protocol) => hosts.map((one) => `${protocol}://${one}${port}`));
}

function isLocalAddress(host: string): boolean {
  return /^(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[::1\]$|\[f[cd])/.test(host);
}
