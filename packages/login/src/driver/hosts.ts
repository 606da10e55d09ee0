import { isAmongHosts } from "@shoal/instance";
import { providers } from "../words/message-words.ts";

/** Hosts of identity providers, which every login may visit. */
const authorities: readonly string[] = providers
  .filter(([provider]) => !["slack", "discord", "amazon", "twitter", "yahoo", "gitlab"].includes(provider))
  .flatMap(([, , hosts]) => [...hosts]);

/**
 * Hosts on which a login may type values: the site with its subdomains, further domains, and the well-known identity
 * providers. `*.example.com` stands for all names below one.
 */
export function allowedHosts(domain: string, further: readonly string[] = []): readonly string[] {
  const own = [domain, ...further].flatMap((entry) => {
    const host = hostOf(entry);
    if (host === "" || host.startsWith("*.")) return host === "" ? [] : [host];
    return [host, `*.${host}`];
  });
  return [...new Set([...own, ...authorities])];
}

/** Whether the host belongs to a well-known identity provider. */
export function isAuthority(host: string): boolean {
  return isAmongHosts(host, authorities);
}

function hostOf(entry: string): string {
  const trimmed = entry.trim().toLowerCase();
  if (trimmed.startsWith("*.")) return trimmed;
  const url = trimmed.includes("://") ? trimmed : `https://${trimmed}`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/^www\./, "") : "";
}
