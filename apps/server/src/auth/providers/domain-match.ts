import { parse } from "tldts";
import type { ProviderItem } from "./interface/credential-provider.ts";

interface Site {
  readonly host: string;
  readonly port: string;
  readonly isWildcard: boolean;
}

/** Reads a URL, a host name or `*.example.com`; `undefined` if it names no site. */
function siteOf(text: string): Site | undefined {
  const isWildcard = /^(?:https?:\/\/)?\*\./i.test(text);
  const bare = text.trim().replace(/^((?:https?:\/\/)?)\*\./i, "$1");
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(bare) ? bare : `https://${bare}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === "") return undefined;
  return { host: url.hostname.replace(/\.$/, ""), port: url.port, isWildcard };
}

/** `example.co.uk` for `login.example.co.uk`; `null` for addresses, `localhost`, and shared suffixes. */
const registrable = (host: string) => parse(host, { allowPrivateDomains: true }).domain;

const ranks = { none: 0, sameSite: 1, wildcard: 2, sameHost: 3 };

function rankOf(item: Site, wanted: Site): number {
  if (item.port !== "" && wanted.port !== "" && item.port !== wanted.port) return ranks.none;
  if (item.isWildcard)
    return wanted.host.endsWith(`.${item.host}`) && registrable(item.host) !== null ? ranks.wildcard : ranks.none;
  if (item.host === wanted.host) return ranks.sameHost;
  const domain = registrable(wanted.host);
  return domain !== null && registrable(item.host) === domain ? ranks.sameSite : ranks.none;
}

/**
 * Finds the item of a site: first an equal host name, then `*.example.com`, then another host name of the same
 * registrable domain. Among equals, the first one.
 */
export function itemForDomain(items: readonly ProviderItem[], domain: string): ProviderItem | undefined {
  const wanted = siteOf(domain);
  if (wanted === undefined) return undefined;
  let best: { readonly item: ProviderItem; readonly rank: number } | undefined;
  for (const item of items) {
    const rank = Math.max(0, ...item.urls.map((url) => siteOf(url)).map((site) => (site ? rankOf(site, wanted) : 0)));
    if (rank > (best?.rank ?? 0)) best = { item, rank };
  }
  return best?.item;
}
