import type { Placement } from "@shoal/placement";
import type { Host } from "../host/host.ts";
import type { ResourceFeatures } from "../resources/features.ts";
import type { SessionFeatures } from "../sessions/features.ts";
import type { LiveViewAddresses } from "../sessions/live-view/live-view-address.ts";
import { checksFeature } from "./checks/feature.ts";
import { connectionsFeature } from "./connections/feature.ts";
import type { credentialsFeature } from "./credentials/feature.ts";
import { signInLinksFeature } from "./sign-in-links/feature.ts";
import { LinkCodes } from "./sign-in-links/link-codes.ts";
import { loginsFeature } from "./logins/feature.ts";
import type { LoginBrowserParts } from "./logins/login-browser.ts";
import { type SignIn, signInByPages } from "./logins/sign-in.ts";
import { loginPages } from "./logins/login-pages.ts";
import { credentialProvidersFeature, type OpenCredentialProvider } from "./providers/feature.ts";
import { collectFeature } from "./vault-forms/feature.ts";
import type { CollectParts } from "./vault-forms/serve-collect.ts";
import { vaultsFeature } from "./vaults/feature.ts";
import { vaultUseFeature } from "./vault-use/feature.ts";
import { signInPageFeature } from "./sign-in-page/feature.ts";

interface AuthNeeds extends Pick<CollectParts, "origins" | "recorder"> {
  readonly placement: Pick<Placement, "abilities">;
  readonly credentials: ReturnType<typeof credentialsFeature>;
  readonly parsing: LoginBrowserParts["parsing"];
  readonly liveViews: LiveViewAddresses;
  readonly resources: ResourceFeatures;
  readonly sessions: SessionFeatures;
  readonly signIn?: SignIn;
  readonly openCredentialProvider?: OpenCredentialProvider;
}

/** Managed sign-in. The server must be registered. */
export async function authFeatures(
  host: Host,
  {
    credentials,
    liveViews,
    openCredentialProvider,
    origins,
    parsing,
    placement,
    recorder,
    resources,
    sessions: room,
    signIn = signInByPages,
  }: AuthNeeds,
) {
  const { issuingKeys, lookup } = resources.apiKeys.provides;
  const pages = loginPages({ liveViews, codes: new LinkCodes(host.secrets) });
  const credentialProviders = await credentialProvidersFeature(host, openCredentialProvider);
  const connections = connectionsFeature(host, {
    credentials: credentials.provides,
    providers: credentialProviders.provides,
    destinations: resources.telemetryDestinations.provides.destinations,
    proxies: resources.proxies.provides,
    regions: room.cluster.provides.replicas.regions,
    pages,
  });
  const vaults = vaultsFeature(host, { credentials: credentials.provides, issuingKeys, projects: lookup });
  const browsers = {
    // A full Chromium can hide that a program uses it.
    canHide: placement.abilities.fullChromium,
    connections: connections.provides,
    isDoubtful: room.cluster.provides.replicas.isDoubtful,
    parsing,
    replays: room.replays.provides.store,
    sessions: room.sessions.provides.sessions,
    signIn,
  };
  const logins = await loginsFeature(host, {
    ...browsers,
    credentials: credentials.provides,
    credentialLookup: credentialProviders.provides,
    pages,
    signInBrowsers: room.sessions.provides.signInBrowsers,
  });
  return {
    credentials,
    credentialProviders,
    vaults,
    vaultForms: collectFeature(host, { ...vaults.provides, origins, recorder }),
    vaultUse: vaultUseFeature(host, vaults.provides, { ...room.sessions.provides, ...room.cluster.provides.replicas }),
    connections,
    signInLinks: signInLinksFeature(host, { issuingKeys, projects: lookup }),
    signInPage: signInPageFeature(host),
    logins,
    checks: await checksFeature(host, { ...browsers, logins: logins.provides, rules: room.sessions.provides.rules }),
  };
}
