import { getPublicSuffix } from "tldts";

/**
 * Hosts below which each customer gets a name, as far as the public suffix list does not have them. Regions of a
 * provider are names below these: `eu.auth0.com`.
 */
const tenantHosts: readonly string[] = [
  "accounts.dev",
  "amazoncognito.com",
  "atlassian.net",
  "auth0.com",
  "auth0app.com",
  "authing.cn",
  "b2clogin.com",
  "ciamlogin.com",
  "cloudflareaccess.com",
  "duosecurity.com",
  "force.com",
  "freshdesk.com",
  "frontegg.com",
  "fusionauth.io",
  "ibmcloud.com",
  "jumpcloud.com",
  "kinde.com",
  "logto.app",
  "my.salesforce.com",
  "myshopify.com",
  "myworkday.com",
  "okta-emea.com",
  "okta-gov.com",
  "okta.com",
  "oktapreview.com",
  "onelogin.com",
  "ory.sh",
  "oryapis.com",
  "ping-eng.com",
  "pingidentity.com",
  "pingone.asia",
  "pingone.ca",
  "pingone.com",
  "pingone.com.au",
  "pingone.eu",
  "service-now.com",
  "sharepoint.com",
  "trycloudflare.com",
  "userfront.com",
  "verify.ibm.com",
  "workos.com",
  "zendesk.com",
  "zitadel.cloud",
];

/** Regions and products of a provider, between the tenant and the provider's host. */
const maxRegionLabels = 2;
const region = /^(?:auth|login|sso|[a-z]{2}|[a-z]{2}-(?:[a-z]+-)?\d|[a-z]{2}\d|us-gov-[a-z]+-\d|authz|accounts|id)$/;

/** Whether names below this host belong to different owners: a public suffix, or the host of a provider for tenants. */
export function isSharedByStrangers(host: string): boolean {
  if (getPublicSuffix(host, { allowPrivateDomains: true }) === host) return true;
  const base = tenantHosts.find((each) => host === each || host.endsWith(`.${each}`));
  if (base === undefined) return false;
  const between = host.slice(0, -base.length).split(".").filter(Boolean);
  return between.length <= maxRegionLabels && between.every((label) => region.test(label));
}
