import {
  AllowedHosts,
  canonicalName,
  embeddedAddresses,
  type IpAddress,
  type IpRange,
  isInRange,
  parseIpAddress,
  parseIpRange,
} from "@shoal/primitives/hosts";
import { readNetworkRule } from "@shoal/contract/network";
import type { EgressRules, RuleRefusal, RuleSource } from "../interface/egress.ts";
import { PlacementError } from "../interface/placement-error.ts";

/** A host in canonical form. */
export interface RuledHost {
  readonly name: string;
  readonly port: number;
  /** The name is resolved by a proxy, whose addresses are unknown. */
  readonly isProxied: boolean;
}

interface Entry {
  readonly text: string;
  readonly port: number | undefined;
  readonly matchesName: (name: string) => boolean;
  readonly range: IpRange | undefined;
}

/**
 * The lists of a session and its project: a connection must pass each. In one source, `allowed_hosts` comes first, then
 * `deny`, then `allow`.
 */
export class NetworkRules {
  readonly #sets: readonly RuleSet[];
  /** Whether connections must also name only allowed hosts inside, as far as the gateway can see it. */
  readonly judgesContent: boolean;

  /** @throws {PlacementError} `bad_option` for an invalid entry. */
  constructor(rules: ReadonlyMap<RuleSource, EgressRules>) {
    this.#sets = [...rules].map(([source, lists]) => new RuleSet(source, lists));
    this.judgesContent = this.#sets.some(({ hasAllowedHosts }) => hasAllowedHosts);
  }

  /** A host that a tunnel names inside: the server name of TLS, or the host of an HTTP request. */
  refuseInside(name: string): RuleRefusal | undefined {
    return firstOf(this.#sets, (set) => set.refuseOutsider(name));
  }

  /** Before a name is resolved. A name that only a range could allow passes, unless a proxy resolves it. */
  refuseName(host: RuledHost): RuleRefusal | undefined {
    return firstOf(this.#sets, (set) => set.refuseName(host));
  }

  refuseAddress(host: RuledHost, address: string): RuleRefusal | undefined {
    return firstOf(this.#sets, (set) => set.refuseAddress(host, address));
  }

  /** For an open connection: one refused address is enough, because the others may be the connected ones. */
  refuseConnection(
    { hostname, port }: { readonly hostname: string; readonly port: number },
    addresses: readonly string[] | undefined,
  ): RuleRefusal | undefined {
    const name = canonicalName(hostname);
    if (name === undefined) return undefined;
    const host = { name, port, isProxied: addresses === undefined };
    return this.refuseName(host) ?? firstOf(addresses ?? [], (address) => this.refuseAddress(host, address));
  }
}

class RuleSet {
  readonly #source: RuleSource;
  readonly #allow: readonly Entry[] | undefined;
  readonly #deny: readonly Entry[];
  readonly #allowedHosts: AllowedHosts | undefined;

  constructor(source: RuleSource, { allow, allowedHosts, deny = [] }: EgressRules) {
    this.#source = source;
    this.#allowedHosts = allowedHosts && new AllowedHosts(allowedHosts);
    this.#allow = allow?.map(parseEntry);
    this.#deny = deny.map(parseEntry);
  }

  get hasAllowedHosts(): boolean {
    return this.#allowedHosts !== undefined;
  }

  refuseOutsider(name: string): RuleRefusal | undefined {
    if (this.#allowedHosts === undefined || this.#allowedHosts.allows(name)) return undefined;
    return { source: this.#source, list: "allowed_hosts" };
  }

  refuseName(host: RuledHost): RuleRefusal | undefined {
    const outside = this.refuseOutsider(host.name);
    if (outside !== undefined) return outside;
    const address = parseIpAddress(host.name);
    if (address !== undefined) return this.refuseAddress(host, host.name);
    const denied = this.#deny.find((entry) => matches(entry, host));
    if (denied !== undefined) return this.#denied(denied);
    if (this.#allow === undefined || this.#allow.some((entry) => matches(entry, host))) return undefined;
    const mayAllow = this.#allow.some(({ port, range }) => range !== undefined && isPort(port, host));
    return mayAllow && !host.isProxied ? undefined : { source: this.#source, list: "allow" };
  }

  refuseAddress(host: RuledHost, address: string): RuleRefusal | undefined {
    const ip = parseIpAddress(address);
    const both = ip === undefined ? [] : [ip, ...embeddedAddresses(ip)];
    const denied = this.#deny.find((entry) => matches(entry, host, both));
    if (denied !== undefined) return this.#denied(denied);
    if (this.#allow?.some((entry) => matches(entry, host, both)) !== false) return undefined;
    return { source: this.#source, list: "allow" };
  }

  #denied({ text }: Entry): RuleRefusal {
    return { source: this.#source, list: "deny", rule: text };
  }
}

function firstOf<Item>(
  items: readonly Item[],
  refuse: (item: Item) => RuleRefusal | undefined,
): RuleRefusal | undefined {
  for (const item of items) {
    const refused = refuse(item);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

function isPort(only: number | undefined, { port }: RuledHost): boolean {
  return only === undefined || only === port;
}

function matches({ matchesName, port, range }: Entry, host: RuledHost, addresses: readonly IpAddress[] = []): boolean {
  if (!isPort(port, host)) return false;
  return range === undefined ? matchesName(host.name) : addresses.some((address) => isInRange(address, range));
}

function parseEntry(entry: string): Entry {
  const rule = readNetworkRule(entry);
  const range = "problem" in rule || rule.kind !== "range" ? undefined : parseIpRange(rule.host);
  if ("problem" in rule || (rule.kind === "range" && range === undefined))
    throw new PlacementError("bad_option", `network: ${JSON.stringify(entry)} is not a host or a range.`);
  const { host, kind, port, text } = rule;
  const matchesName =
    kind === "any"
      ? () => true
      : kind === "subdomains"
        ? (name: string) => name.endsWith(`.${host}`)
        : (name: string) => name === host;
  return { text, port, matchesName, range };
}

/** One sentence for pages and programs, with the rule and the next step. @param host - `example.com:443` */
export function describeRefusal(host: string, { list, rule, source }: RuleRefusal): string {
  const owner = source === "session" ? "this session" : "this project";
  const reason =
    list === "deny"
      ? `the rule ${rule ?? ""} in network.deny of ${owner} refuses it`
      : `network.${list} of ${owner} does not contain it`;
  const step =
    source === "session"
      ? "The owner of the session can change its rules with browsers.update."
      : "A key of the organization can change the project's rules with projects.update.";
  return `Pages may not reach ${host}: ${reason}. ${step}`;
}
