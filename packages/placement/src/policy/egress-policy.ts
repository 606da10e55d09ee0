import { codeOf } from "@shoal/primitives";
import {
  canonicalName,
  hostAndPort,
  type IpRange,
  isInRange,
  parseIpAddress,
  parseIpRange,
} from "@shoal/primitives/hosts";
import type { RuleRefusal } from "../interface/egress.ts";
import { innerPorts } from "../interface/inner-ports.ts";
import { PlacementError } from "../interface/placement-error.ts";
import { describeRefusal, NetworkRules, type RuledHost } from "./network-rules.ts";
import { createLocalAddresses, localBecause, type LocalAddresses } from "./local-addresses.ts";

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Rejects with a system error (`code: "ENOTFOUND"`, …). */
export type ResolveName = (name: string) => Promise<readonly ResolvedAddress[]>;

export type EgressDecision =
  /** Connect only to these addresses: a second lookup could return others. */
  | { readonly allowed: true; readonly addresses: readonly ResolvedAddress[] }
  /** `message` is for the page; `because` is a clause to follow a colon. */
  | {
      readonly allowed: false;
      readonly status: 400 | 403 | 502;
      readonly message: string;
      readonly because: string;
      /** Present if a list of the session or the project refuses the host. */
      readonly refusal?: RuleRefusal;
    };

export interface EgressPolicy {
  /**
   * `hostname` may have any notation that URLs and CONNECT allow. Never rejects.
   * @param isProxied - a proxy resolves the name again: ranges of `allow` do not apply to names.
   */
  decide(hostname: string, port: number, isProxied?: boolean): Promise<EgressDecision>;
  /** Allows a private host only if this policy and `privateHosts` do. @throws {PlacementError} `bad_option`. */
  narrowed(privateHosts: readonly string[]): EgressPolicy;
  /** Replaces the rules of sessions and projects. They allow no private host. */
  ruledBy(rules: NetworkRules): EgressPolicy;
}

export interface AllowedHost {
  readonly matchesName: (name: string) => boolean;
  readonly range: IpRange | undefined;
  readonly port: number | undefined;
}

/** Of one name. */
const maxAddresses = 32;

/** Chromium's background traffic, without `accounts.google.com`, where people sign in. */
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

/** Allows public addresses and `allowPrivateHosts`. @throws {PlacementError} `bad_option` for an invalid entry. */
export function createEgressPolicy(
  allowPrivateHosts: readonly string[],
  resolveName: ResolveName,
  local = createLocalAddresses(),
): EgressPolicy {
  const lists = [parseHosts("allowPrivateHosts", allowPrivateHosts)];
  return policyOf(lists, new NetworkRules(new Map()), { resolveName, local });
}

interface AddressSources {
  readonly resolveName: ResolveName;
  readonly local: LocalAddresses;
}

/**
 * Also private hosts: an operator listed them. An entry without a port allows every port. @throws {PlacementError}
 * `bad_option`.
 */
export function createAllowListPolicy(hosts: readonly string[], resolveName: ResolveName): EgressPolicy {
  const allowed = parseHosts("hosts", hosts);
  const policy: EgressPolicy = {
    narrowed: () => policy,
    ruledBy: () => policy,
    async decide(hostname, port) {
      const name = canonicalName(hostname);
      const host = hostAndPort(name ?? quoted(hostname), port);
      const ip = name === undefined ? undefined : parseIpAddress(name);
      const isAllowed = allowed.some(
        ({ matchesName, range, port: only }) =>
          (only === undefined || only === port) &&
          (range === undefined ? name !== undefined && matchesName(name) : ip !== undefined && isInRange(ip, range)),
      );
      if (name === undefined || !isAllowed)
        return {
          allowed: false,
          status: 403,
          message: `A build may not reach ${host}. An operator can allow the host with build_allowed_hosts.\n`,
          because: "builds may only reach package registries",
        };
      try {
        const addresses = await addressesOf(name, resolveName);
        if (addresses.length > 0) return { allowed: true, addresses };
      } catch {
        // Answered below.
      }
      const because = "its name could not be resolved";
      return { allowed: false, status: 502, message: `${host} cannot be reached: ${because}.\n`, because };
    },
  };
  return policy;
}

function policyOf(
  lists: readonly (readonly AllowedHost[])[],
  rules: NetworkRules,
  sources: AddressSources,
): EgressPolicy {
  const { local, resolveName } = sources;
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
    narrowed: (privateHosts) => policyOf([...lists, parseHosts("private_hosts", privateHosts)], rules, sources),
    ruledBy: (changed) => policyOf(lists, changed, sources),
    async decide(hostname, port, isProxied = false) {
      const name = canonicalName(hostname);
      if (name === undefined)
        return {
          allowed: false,
          status: 400,
          message: `${quoted(hostname)} is not a host name.\n`,
          because: "it is not a host name",
        };
      if (ownTraffic.has(name))
        return {
          allowed: false,
          status: 403,
          message: `Background traffic of the browser to ${name} is blocked.\n`,
          because: "it is only used by the browser itself",
        };
      const host: RuledHost = { name, port, isProxied };
      const byName = rules.refuseName(host);
      if (byName !== undefined) return refusedByRule(host, byName);
      let all: readonly ResolvedAddress[];
      try {
        all = await addressesOf(name, resolveName);
      } catch (error) {
        const reason = codeOf(error) ?? "unknown";
        return {
          allowed: false,
          status: 502,
          message: `The name ${quoted(name)} could not be resolved (${reason}).\n`,
          because: `its name could not be resolved (${reason})`,
        };
      }
      if (isProxied && all.length > maxAddresses) return tooMany(host, all.length);
      const found = firstOf(all);
      const byAddress = found.flatMap(({ address }) => rules.refuseAddress(host, address) ?? []);
      const [first] = byAddress;
      // A proxy may choose any address of the name.
      if (first !== undefined && (isProxied || byAddress.length === found.length)) return refusedByRule(host, first);
      let refused = "it has no address";
      let refusing = -1;
      const addresses: ResolvedAddress[] = [];
      for (const each of found) {
        const { address } = each;
        if (byAddress.length > 0 && rules.refuseAddress(host, address) !== undefined) continue;
        const ip = parseIpAddress(address);
        const because = ip === undefined ? "not an address" : await localBecause(ip, local);
        const list = because === undefined ? -1 : refusingList(name, address, port);
        if (list === -1) addresses.push(each);
        else [refusing, refused] = [list, `${address} is ${because ?? ""}`];
      }
      if (addresses.length > 0 && !(isProxied && refusing !== -1)) return { allowed: true, addresses };
      const shown = hostAndPort(name, port);
      const facts = { host: shown, port, isLoopback: found.every(isLoopback) };
      const step = refusing === -1 ? "" : ` ${remedy(refusing, facts)}`;
      const message = `Pages may not reach ${shown}: ${refused}.${step}\n`;
      return { allowed: false, status: 403, message, because: refused };
    },
  };
}

/** The first of each family: each address takes work, and a name may have thousands. */
function firstOf(addresses: readonly ResolvedAddress[]): readonly ResolvedAddress[] {
  if (addresses.length <= maxAddresses) return addresses;
  const families = Map.groupBy(addresses, ({ family }) => family);
  return [...families.values()].flatMap((each) => each.slice(0, maxAddresses / families.size));
}

/** A proxy may choose any of them, so all would have to be judged. */
function tooMany({ name, port }: RuledHost, count: number): EgressDecision {
  const because = `it has ${String(count)} addresses, and a proxy may choose among at most ${String(maxAddresses)}`;
  return {
    allowed: false,
    status: 403,
    message: `Pages may not reach ${hostAndPort(name, port)}: ${because}.\n`,
    because,
  };
}

function isLoopback({ address }: ResolvedAddress): boolean {
  return parseIpAddress(address)?.range() === "loopback";
}

function refusedByRule({ name, port }: RuledHost, refusal: RuleRefusal): EgressDecision {
  const message = describeRefusal(hostAndPort(name, port), refusal);
  return { allowed: false, status: 403, message: `${message}\n`, because: "a rule of the session refuses it", refusal };
}

interface RefusedHost {
  readonly host: string;
  readonly port: number;
  readonly isLoopback: boolean;
}

/** The first list is the service's. */
function remedy(refusingList: number, { host, isLoopback: isOwn, port }: RefusedHost): string {
  if (isOwn && port === innerPorts.api)
    return "In the box of an app it is the service: replace the origin by the app's SHOAL_PUBLIC_URL, which the operator may have to allow.";
  const dev = isOwn ? " To allow all ports of the service's machine, run it with --dev." : "";
  return refusingList === 0
    ? `To allow it, run the service with --allow-private-hosts ${host} (SHOAL_ALLOW_PRIVATE_HOSTS, allow_private_hosts in its settings).${dev}`
    : `The service allows it, but this session does not: add ${host} to network.private_hosts when you create the session.`;
}

async function addressesOf(name: string, resolveName: ResolveName): Promise<readonly ResolvedAddress[]> {
  const literal = parseIpAddress(name);
  if (literal !== undefined) return [{ address: name, family: name.includes(":") ? 6 : 4 }];
  // RFC 6761 reserves these names for loopback, but resolvers differ.
  if (name === "localhost" || name.endsWith(".localhost")) {
    return [
      { address: "127.0.0.1", family: 4 },
      { address: "::1", family: 6 },
    ];
  }
  return resolveName(name);
}

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
      `${option}: ${quoted(entry)} is not a host. Use a name (intranet.example, *.example), an address or a range (10.0.0.0/8), optionally with a port (localhost:3000, [::1]:3000).`,
    );
  }
  const matchesName = host.startsWith("*.")
    ? (other: string) => other.endsWith(`.${name}`)
    : (other: string) => other === name;
  return { matchesName, range, port };
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 253 ? `${text.slice(0, 253)}…` : text);
}
