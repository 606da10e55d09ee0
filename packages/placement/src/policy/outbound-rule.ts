import { parseIpAddress } from "@shoal/primitives/hosts";
import { createEgressPolicy, type ResolvedAddress, type ResolveName } from "./egress-policy.ts";
import { createLocalAddresses, localBecause } from "./local-addresses.ts";
import { createNameResolver } from "./resolve-name.ts";
import type { LookupFunction } from "node:net";

export type OutboundDecision =
  /** Connect with `lookup`, which returns the checked addresses only: a second lookup could return others. */
  | { readonly allowed: true; readonly addresses: readonly ResolvedAddress[]; readonly lookup: LookupFunction }
  /** A clause to follow a colon: `10.0.0.1 is a private network`. */
  | {
      readonly allowed: false;
      readonly because: string;
      /** Only the protocol is refused: the address is public. */
      readonly needsTls?: boolean;
    };

/** For `http:` addresses. `private`: TLS is optional for private hosts alone. */
export type PlainHttp = "anywhere" | "private";

/** Limits where the service sends requests for users: to public addresses, and the private ones for pages. */
export interface OutboundRule {
  decide(url: URL, plainHttp?: PlainHttp): Promise<OutboundDecision>;
  /** Decides without a lookup: a host with a name that a lookup must decide about is allowed. */
  decideLiteral(url: URL, plainHttp?: PlainHttp): Promise<OutboundDecision>;
}

export interface OutboundRuleOptions {
  readonly allowPrivateHosts: readonly string[];
  /** Addresses of the other servers of the installation. */
  readonly otherServers?: (() => Iterable<string>) | undefined;
  readonly resolveName?: ResolveName;
}

const needsTls: OutboundDecision = {
  allowed: false,
  because: "its address is public, and http is for private hosts only",
  needsTls: true,
};

export function createOutboundRule({
  allowPrivateHosts,
  otherServers,
  resolveName = createNameResolver(),
}: OutboundRuleOptions): OutboundRule {
  const local = createLocalAddresses({ otherServers });
  const policy = createEgressPolicy(allowPrivateHosts, resolveName, local);
  const unresolved = () => Promise.reject(new Error("Names are not looked up."));
  const literals = createEgressPolicy(allowPrivateHosts, unresolved, local);

  async function privateOnes(addresses: readonly ResolvedAddress[]): Promise<readonly ResolvedAddress[]> {
    const kept: ResolvedAddress[] = [];
    for (const each of addresses) {
      const ip = parseIpAddress(each.address);
      if (ip !== undefined && (await localBecause(ip, local)) !== undefined) kept.push(each);
    }
    return kept;
  }

  async function decideBy(by: typeof policy, url: URL, plainHttp: PlainHttp): Promise<OutboundDecision> {
    const decision = await by.decide(url.hostname, portOf(url));
    if (!decision.allowed)
      return by === literals && decision.status === 502 ? allowedAt([]) : { allowed: false, because: decision.because };
    if (url.protocol !== "http:" || plainHttp === "anywhere") return allowedAt(decision.addresses);
    const addresses = await privateOnes(decision.addresses);
    return addresses.length === 0 ? needsTls : allowedAt(addresses);
  }

  return {
    decide: (url, plainHttp = "anywhere") => decideBy(policy, url, plainHttp),
    decideLiteral: (url, plainHttp = "anywhere") => decideBy(literals, url, plainHttp),
  };
}

function portOf({ port, protocol }: URL): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

function allowedAt(addresses: readonly ResolvedAddress[]): OutboundDecision {
  return { allowed: true, addresses, lookup: pinnedTo(addresses) };
}

/** For clients that make their own connections: looks up only addresses that the rule allows. @param urls - whose ports are not 443. */
export function guardedLookup(rule: OutboundRule, urls: readonly URL[]): LookupFunction {
  return (hostname, options, callback) => {
    const url = urls.find((each) => each.hostname === hostname) ?? new URL(`https://${hostname}/`);
    rule.decide(url).then(
      (decision) => {
        if (decision.allowed) decision.lookup(hostname, options, callback);
        else callback(new Error(`${hostname} may not be reached: ${decision.because}`), "");
      },
      (error: unknown) => {
        callback(error instanceof Error ? error : new Error(String(error)), "");
      },
    );
  };
}

/** For `connect` and `request` of Node, with addresses of the asked family only. */
export function pinnedTo(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_hostname, options, callback) => {
    const family = options.family === "IPv4" ? 4 : options.family === "IPv6" ? 6 : (options.family ?? 0);
    const usable = addresses.filter((each) => family === 0 || each.family === family);
    const [first] = usable;
    if (first === undefined)
      callback(Object.assign(new Error("The host has no address of this family."), { code: "ENOTFOUND" }), "");
    else if (options.all === true) callback(null, [...usable]);
    else callback(null, first.address, first.family);
  };
}
