import { Front } from "./hosting/front.ts";
import type { Site } from "./hosting/site.ts";
import { appSites } from "./pages/apps.ts";
import { CaptchaMaker, captchaSites } from "./pages/captcha.ts";
import { codeSites } from "./pages/codes.ts";
import { domainSites } from "./pages/domains.ts";
import { factorSites, PushSite } from "./pages/factors.ts";
import { frameSites } from "./pages/frames.ts";
import { languageSites } from "./pages/languages.ts";
import { listSite } from "./pages/list.ts";
import { overlaySites } from "./pages/overlays.ts";
import { plainSites } from "./pages/plain.ts";
import { providerSites } from "./pages/providers.ts";
import { ruleSites } from "./pages/rules.ts";
import { sessionSites } from "./pages/sessions.ts";
import { stepSites } from "./pages/steps.ts";
import { trapSites } from "./pages/traps.ts";

/** Running login sites. */
export interface Sites extends AsyncDisposable {
  /** Proxy of type `custom` behind which the sites are: create it with `shoal.proxies.create(sites.proxy)`. */
  readonly proxy: {
    readonly type: "custom";
    readonly protocol: "http";
    readonly config: { readonly host: string; readonly port: number; readonly ca_bundle: string };
  };
  /** `127.0.0.1:PORT` of the proxy, for `--allow-private-hosts`. */
  readonly privateHost: string;
  /** All sites by host name. */
  readonly all: ReadonlyMap<string, Site>;
  /** The address of a page that lists the sites for people. */
  readonly list: string;
  /** The address of a site's page. @param name - the host name without `.test`. */
  url(name: string, path?: string): string;
  /** A site with its handles. @param name - the host name, with or without `.test`. */
  site(name: string): Site;
  /** Site with push messages. */
  readonly push: PushSite;
  /** Maker of the captchas of `captcha-wall`. */
  readonly captcha: CaptchaMaker;
  /** Makes a site unreachable or reachable. */
  setOnline(name: string, isOnline: boolean): void;
  close(): Promise<void>;
}

/**
 * Starts all sites on one port of loopback. Each has a host name and a certificate; a session reaches them through
 * {@link Sites.proxy}, whose `ca_bundle` it trusts.
 */
export async function startSites(): Promise<Sites> {
  const all = new Map(everySite().map((site) => [site.host, site]));
  const push = theOnly(PushSite, all);
  const list = listSite(all, push);
  const front = new Front([...all.values(), list]);
  await front.start();
  const site = (name: string) => {
    const found = all.get(name) ?? all.get(`${name}.test`);
    if (found === undefined) throw new Error(`Unknown test site "${name}": ${[...all.keys()].join(", ")}.`);
    return found;
  };
  const { port, certificate } = front;
  return {
    proxy: { type: "custom", protocol: "http", config: { host: "127.0.0.1", port, ca_bundle: certificate } },
    privateHost: `127.0.0.1:${String(port)}`,
    all,
    list: list.origin,
    url: (name, path = "/") => `${site(name).origin}${path}`,
    site,
    push,
    captcha: theOnly(CaptchaMaker, all),
    setOnline: (name, isOnline) => {
      front.setOnline(site(name).host, isOnline);
    },
    close: () => front.close(),
    [Symbol.asyncDispose]: () => front.close(),
  };
}

function everySite(): Site[] {
  return [
    ...plainSites(),
    ...codeSites(),
    ...factorSites(),
    ...ruleSites(),
    ...appSites(),
    ...frameSites(),
    ...overlaySites(),
    ...captchaSites(),
    ...providerSites(),
    ...domainSites(),
    ...trapSites(),
    ...sessionSites(),
    ...stepSites(),
    ...languageSites(),
  ];
}

function theOnly<Kind extends Site>(kind: new () => Kind, all: ReadonlyMap<string, Site>): Kind {
  for (const site of all.values()) if (site instanceof kind) return site;
  throw new Error(`${kind.name} is not among the test sites.`);
}
