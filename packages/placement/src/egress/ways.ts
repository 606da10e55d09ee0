import { canonicalName, namePatterns, readNamePattern } from "@shoal/primitives/hosts";
import type { EgressProxyRoute, EgressRules, EgressUpstream, RuleSource } from "../interface/egress.ts";
import { PlacementError } from "../interface/placement-error.ts";
import type { EgressDecision, EgressPolicy } from "../policy/egress-policy.ts";
import { describeRefusal, NetworkRules } from "../policy/network-rules.ts";
import type { LookUp } from "./connections.ts";
import { EgressFailure, routeFailure } from "./failure.ts";
import { orLate } from "./or-late.ts";
import { type EgressHop, type EgressRoute, type EgressTarget, hostOf } from "./route.ts";
import { arePrivate, type MachineProxy, type ParsedUpstream, parseUpstream } from "./upstream.ts";

/** Milliseconds for the additional lookup of a name that a proxy resolves. */
const secondLookMs = 2_000;

interface Way {
  readonly hops: readonly EgressHop[];
  readonly addresses: EgressRoute["addresses"];
}

/** Decides by the policy, rules and proxies of one session how, and whether, a host is reached. */
export class EgressWays {
  readonly #policy: EgressPolicy;
  #narrowed: EgressPolicy;
  #pages: EgressPolicy;
  #rulesOf: ReadonlyMap<RuleSource, EgressRules> = new Map();
  #upstream: ParsedUpstream | undefined;
  #routeTo: (name: string) => ParsedUpstream | undefined = () => undefined;
  readonly #lookUp: LookUp;
  readonly #machine: MachineProxy | undefined;
  /** Another object after each change. */
  rules = new NetworkRules(new Map());

  constructor(policy: EgressPolicy, lookUp: LookUp, machine?: MachineProxy) {
    this.#machine = machine;
    this.#policy = policy;
    this.#narrowed = policy;
    this.#pages = policy;
    this.#lookUp = lookUp;
  }

  /** @throws {EgressFailure} if the host is refused. @param own - of the browser context. */
  async to(
    target: EgressTarget,
    own: ParsedUpstream | undefined,
    authorization: string | undefined,
  ): Promise<EgressRoute> {
    if (own === undefined || own.bypasses(target.hostname)) return { target, ...(await this.#wayTo(target)) };
    await this.#refuseKnown(target);
    // A browser context's proxy is subject to the policy for pages.
    const { hops, addresses } = await this.#wayTo(own, this.#routeOf(target));
    return { target, hops: [...hops, { proxy: own, authorization, asksClient: true }], addresses };
  }

  #routeOf({ hostname }: EgressTarget): ParsedUpstream | undefined {
    const name = canonicalName(hostname);
    return name === undefined ? undefined : this.#routeTo(name);
  }

  async #wayTo(target: EgressTarget, route = this.#routeOf(target)): Promise<Way> {
    const upstream = route ?? this.#upstream;
    if (upstream === undefined || upstream.bypasses(target.hostname)) return this.#ownWayTo(target);
    await this.#refuseKnown(target);
    const server = await this.#decide(this.#policy, upstream);
    if (!server.allowed) {
      const failure = new EgressFailure(502, `The session's proxy is not allowed. ${server.message.trimEnd()}`);
      throw route === undefined ? failure : routeFailure(failure, hostOf(target));
    }
    return {
      hops: [{ proxy: upstream, asksClient: false, isRoute: route !== undefined }],
      addresses: server.addresses,
    };
  }

  /** Without a proxy of the session. */
  async #ownWayTo(target: EgressTarget): Promise<Way> {
    const machine = this.#machine?.proxy.bypasses(target.hostname) === false ? this.#machine : undefined;
    if (machine !== undefined) {
      const known = await this.#refuseKnown(target);
      if (known?.allowed !== true || !arePrivate(known.addresses)) return this.#wayBy(machine);
    }
    const decision = await this.#decide(this.#pages, target);
    if (!decision.allowed) throw refusalOf(decision);
    return { hops: [], addresses: decision.addresses };
  }

  async #wayBy({ policy, proxy }: MachineProxy): Promise<Way> {
    const decision = await this.#decide(policy, proxy);
    if (decision.allowed) return { hops: [{ proxy, asksClient: false }], addresses: decision.addresses };
    throw new EgressFailure(502, `The proxy of this machine (egress_proxy): ${decision.message.trimEnd()}`);
  }

  #decide(policy: EgressPolicy, { hostname, port }: EgressTarget, isProxied = false): Promise<EgressDecision> {
    return this.#lookUp(() => policy.decide(hostname, port, isProxied));
  }

  /**
   * Refuses private names, and names that a rule refuses, although the proxy resolves them again. Slow and unknown names
   * are left to the proxy.
   */
  async #refuseKnown(target: EgressTarget): Promise<EgressDecision | undefined> {
    const refusal = this.rules.refuseConnection(target, undefined);
    if (refusal !== undefined) throw new EgressFailure(403, describeRefusal(hostOf(target), refusal), { refusal });
    const decision = await orLate(this.#decide(this.#pages, target, true), { ms: secondLookMs }, () => undefined);
    if (decision !== undefined && !decision.allowed && decision.status !== 502) throw refusalOf(decision);
    return decision;
  }

  setPrivateHosts(hosts: readonly string[]): void {
    this.#narrowed = this.#policy.narrowed(hosts);
    this.#pages = this.#narrowed.ruledBy(this.rules);
  }

  setRules(source: RuleSource, rules: EgressRules | undefined): void {
    const changed = new Map(this.#rulesOf);
    if (rules === undefined) changed.delete(source);
    else changed.set(source, rules);
    this.rules = new NetworkRules(changed);
    this.#rulesOf = changed;
    this.#pages = this.#narrowed.ruledBy(this.rules);
  }

  setProxyRoutes(routes: readonly EgressProxyRoute[]): void {
    this.#routeTo = namePatterns(
      routes.flatMap(({ hosts, upstream }) => {
        const parsed = parseUpstream(upstream);
        return hosts.map((host) => {
          const pattern = readNamePattern(host);
          if (pattern === undefined)
            throw new PlacementError("bad_option", `proxy_routes: ${JSON.stringify(host)} is not a host name.`);
          return [pattern, parsed] as const;
        });
      }),
    );
  }

  /** @param client - with its route, and the host that its tunnel named inside. */
  isRefused({
    inside,
    route,
  }: {
    readonly inside: string | undefined;
    readonly route: EgressRoute | undefined;
  }): boolean {
    if (route === undefined) return false;
    if (inside !== undefined && this.rules.refuseInside(inside) !== undefined) return true;
    const { addresses, hops, target } = route;
    const [first] = hops;
    if (first === undefined) return this.#isRuledOut(target, addresses);
    if (this.#isRuledOut(target, undefined)) return true;
    // A proxy of a browser context is subject to the rules, the session's is not.
    const own = hops.find(({ asksClient }) => asksClient)?.proxy;
    return own !== undefined && this.#isRuledOut(own, own === first.proxy ? addresses : undefined);
  }

  #isRuledOut(target: EgressTarget, addresses: EgressRoute["addresses"] | undefined): boolean {
    const found = addresses?.map(({ address }) => address);
    return this.rules.refuseConnection(target, found) !== undefined;
  }

  setUpstream(upstream: EgressUpstream | undefined): void {
    this.#upstream = upstream && parseUpstream(upstream);
  }
}

function refusalOf({ status, message, refusal }: Extract<EgressDecision, { allowed: false }>): EgressFailure {
  return new EgressFailure(status, message.trimEnd(), { refusal });
}
