import { isInRange, parseIpAddress, parseIpRange, type IpRange } from "./ip-address.ts";
import { PlacementError } from "./placement-error.ts";
import { privateBecause } from "./private-addresses.ts";

/** An address with its family, as `dns.lookup` gives it. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Finds all addresses of a name. Rejects with a system error (`code: "ENOTFOUND"`, …). */
export type ResolveName = (name: string) => Promise<readonly ResolvedAddress[]>;

export type EgressDecision =
  /** Connect to these addresses and no others: a second look at the name could give another answer. */
  | { readonly allowed: true; readonly addresses: readonly ResolvedAddress[] }
  /** `status` and `message` are for the page; `because` says the same in words that fit behind a colon. */
  | { readonly allowed: false; readonly status: 400 | 403 | 502; readonly message: string; readonly because: string };

export interface EgressPolicy {
  /** Decides about one connection. `hostname` is as a URL or a `CONNECT` line gives it, in any notation. Never rejects. */
  decide(hostname: string, port: number): Promise<EgressDecision>;
  /**
   * The same rule for one session, which reaches of the private hosts only what both allow.
   *
   * @throws {PlacementError} `bad_option` for an entry that cannot be read.
   */
  narrowed(privateHosts: readonly string[]): EgressPolicy;
}

export interface AllowedHost {
  readonly matchesName: (name: string) => boolean;
  readonly range: IpRange | undefined;
  readonly port: number | undefined;
}

/** Hosts that Chromium calls for itself, not for a page. `accounts.google.com` is none of them: people sign in there. */
const ownTraffic: ReadonlySet<string> = new Set([
  "android.clients.google.com",
  "clients2.google.com",
  "clients4.google.com",
  "clientservices.googleapis.com",
  "content-autofill.googleapis.com",
  "edgedl.me.gvt1.com",
  "mtalk.google.com",
  "optimizationguide-pa.googleapis.com",
  "redirector.gvt1.com",
  "safebrowsing.googleapis.com",
  "safebrowsingohttpgateway.googleapis.com",
  "update.googleapis.com",
]);

/**
 * Makes the rule that says what pages may reach: every public address, and what `allowPrivateHosts` names.
 *
 * @throws {PlacementError} `bad_option` for an entry that cannot be read.
 */
export function createEgressPolicy(allowPrivateHosts: readonly string[], resolveName: ResolveName): EgressPolicy {
  return policyOf([parseHosts("allowPrivateHosts", allowPrivateHosts)], resolveName);
}

/** @param lists - all of which have to allow a private host. */
function policyOf(lists: readonly (readonly AllowedHost[])[], resolveName: ResolveName): EgressPolicy {
  /** Index of the first list that does not allow it; -1 when all do. */
  function refusingList(name: string, address: string, port: number): number {
    const ip = parseIpAddress(address);
    return lists.findIndex(
      (hosts) =>
        !hosts.some(
          (host) =>
            (host.port === undefined || host.port === port) &&
            (host.range === undefined ? host.matchesName(name) : ip !== undefined && isInRange(ip, host.range)),
        ),
    );
  }

  return {
    narrowed: (privateHosts) => policyOf([...lists, parseHosts("private_hosts", privateHosts)], resolveName),
    async decide(hostname, port) {
      const name = canonicalName(hostname);
      if (name === undefined)
        return { allowed: false, status: 400, message: `${quoted(hostname)} is not a host name.\n`, because: "it is not a host name" };
      if (ownTraffic.has(name))
        return {
          allowed: false,
          status: 403,
          message: `The browser's own traffic to ${name} is switched off.\n`,
          because: "only the browser itself asks it",
        };
      let found: readonly ResolvedAddress[];
      try {
        found = await addressesOf(name, resolveName);
      } catch (error) {
        const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown";
        return {
          allowed: false,
          status: 502,
          message: `The name ${quoted(name)} could not be resolved (${reason}).\n`,
          because: `its name could not be resolved (${reason})`,
        };
      }
      let refused = "it has no address";
      let refusing = -1;
      const addresses = found.filter(({ address }) => {
        const ip = parseIpAddress(address);
        const because = ip === undefined ? "not an address" : privateBecause(ip);
        if (because === undefined) return true;
        refusing = refusingList(name, address, port);
        if (refusing === -1) return true;
        refused = `${address} is ${because}`;
        return false;
      });
      if (addresses.length > 0) return { allowed: true, addresses };
      return {
        allowed: false,
        status: 403,
        message: `Pages may not reach ${hostAndPort(name, port)}: ${refused}.${refusing === -1 ? "" : ` ${remedy(refusing, hostAndPort(name, port))}`}\n`,
        because: refused,
      };
    },
  };
}

/** What allows a private host. The service's own list is the first. */
function remedy(refusingList: number, host: string): string {
  return refusingList === 0
    ? `To allow it, run the service with --allow-private-hosts ${host} (SHOAL_ALLOW_PRIVATE_HOSTS, allow_private_hosts in its settings).`
    : `The service allows it, but this session does not: add ${host} to network.private_hosts when you create the session.`;
}

function hostAndPort(name: string, port: number): string {
  return `${name.includes(":") ? `[${name}]` : name}:${String(port)}`;
}

async function addressesOf(name: string, resolveName: ResolveName): Promise<readonly ResolvedAddress[]> {
  const literal = parseIpAddress(name);
  if (literal !== undefined) return [{ address: name, family: name.includes(":") ? 6 : 4 }];
  // RFC 6761 gives these names to the loopback interface; resolvers differ in whether they know it.
  if (name === "localhost" || name.endsWith(".localhost")) {
    return [
      { address: "127.0.0.1", family: 4 },
      { address: "::1", family: 6 },
    ];
  }
  return resolveName(name);
}

/** One notation for every host: lower case, no final dot, no brackets, IPv4 in four decimal parts however it was written. */
function canonicalName(hostname: string): string | undefined {
  const bare = hostname.startsWith("[") && hostname.endsWith("]") ? hostname.slice(1, -1) : hostname;
  if (parseIpAddress(bare)) return bare.split("%", 1)[0];
  // Anything that would end the host in a URL.
  if (/[/?#@\\:]/.test(bare)) return undefined;
  const parsed = URL.parse(`http://${bare}/`)?.hostname.replace(/\.+$/, "");
  return parsed === undefined || parsed === "" || parsed.length > 253 ? undefined : parsed;
}

/** @throws {PlacementError} `bad_option` for an entry that cannot be read. */
export function parseHosts(option: string, entries: readonly string[]): AllowedHost[] {
  return entries.map((entry) => parseAllowedHost(option, entry));
}

function parseAllowedHost(option: string, entry: string): AllowedHost {
  const text = entry.trim();
  const bracketed = /^\[([^\]]+)\](?::(\d+))?$/.exec(text);
  const withPort = /^([^:]+):(\d+)$/.exec(text);
  const [, host = text, portText] = bracketed ?? withPort ?? [];
  const port = portText === undefined ? undefined : Number(portText);
  const range = parseIpRange(host);
  const bare = host.replace(/^\*\./, "");
  const name = range === undefined && !bare.includes("*") ? canonicalName(bare) : undefined;
  if ((range === undefined && name === undefined) || (port !== undefined && (port < 1 || port > 65_535))) {
    throw new PlacementError(
      "bad_option",
      `${option}: ${quoted(entry)} is not a host. Write a name (intranet.example, *.example), an address or a range (10.0.0.0/8), with a port if wanted (localhost:3000, [::1]:3000).`,
    );
  }
  const matchesName = host.startsWith("*.") ? (other: string) => other.endsWith(`.${name}`) : (other: string) => other === name;
  return { matchesName, range, port };
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 253 ? `${text.slice(0, 253)}…` : text);
}
