import { isAmongHosts } from "@shoal/instance";
import { isSharedByStrangers } from "./shared-hosts.ts";
import { providers } from "../words/message-words.ts";

/** Hosts of identity providers, also those with a subdomain for each customer. */
const authorities: readonly string[] = providers
  .filter(([provider]) => !["slack", "discord", "amazon", "twitter", "yahoo", "gitlab"].includes(provider))
  .flatMap(([, , hosts]) => [...hosts]);

/** Hosts that belong to the provider itself, so that every login may type there. */
const ownAuthorities: readonly string[] = authorities.filter((host) => !host.startsWith("*."));

/**
 * Hosts on which a login may type values: the site with its subdomains, further domains, and identity providers with
 * one host for all customers. `*.example.com` stands for all names below one. Where names below a host belong to
 * strangers, only named hosts are allowed: `acme.okta.com`, never `*.okta.com`.
 */
export function allowedHosts(domain: string, further: readonly string[] = []): readonly string[] {
  const own = [domain, ...further].flatMap((entry) => {
    const host = hostOf(entry);
    const base = host.replace(/^\*\./, "");
    if (base === "") return [];
    if (isSharedByStrangers(base)) return host === base ? [host] : [];
    return host === base ? [host, `*.${host}`] : [host];
  });
  return [...new Set([...own, ...ownAuthorities])];
}

/** The hosts of a provider of logins, without those whose subdomains belong to its customers. */
export function providerHosts(name: string): readonly string[] {
  const hosts: readonly string[] = providers.find(([provider]) => provider === name)?.[2] ?? [];
  return hosts.filter((host) => !host.startsWith("*."));
}

/** Whether subdomains of the host belong to customers of an identity provider. */
export function isSharedHost(host: string): boolean {
  return providers.some(([, , hosts]) => (hosts as readonly string[]).includes(`*.${host}`));
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
